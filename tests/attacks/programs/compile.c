/*
 * Code that is expensive to read, to rewrite or to assemble: small texts that ask for much memory or time, and large
 * ones. A process that reads the code of all tenants must have a limit for each. A text that is refused is as good
 * as one that runs. ATTACK_SHARE=N in the environment makes the long ones N times shorter, for machines with a GPU in
 * software.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"

enum { TEXT_BYTES = 96 << 20 };

static const char *const HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";
static const char *const KERNEL =
    ".visible .entry attack(.param .u64 out)\n{\n.reg .pred %p;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n";

static char *text;
static size_t length;
static int words = TEXT_BYTES >> 5, many = 30000, lines = 400000, tables = 200, calls = 1000, printed = 20000;

static void say(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    int said = vsnprintf(text + length, TEXT_BYTES - length, format, rest);
    va_end(rest);
    if (said < 0 || (size_t)said >= TEXT_BYTES - length) {
        fprintf(stderr, "the text is too long\n");
        exit(3);
    }
    length += (size_t)said;
}

static void begin(void)
{
    const char *share = getenv("ATTACK_SHARE");
    int parts = share && atoi(share) > 1 ? atoi(share) : 1;
    words /= parts, many /= parts, lines /= parts, tables /= parts, calls /= parts, printed /= parts;
    text = malloc(TEXT_BYTES);
    if (!text) {
        fprintf(stderr, "no memory\n");
        exit(3);
    }
    say("%s", HEAD);
}

/* Loads the text of the option and runs it, if it can be. */
static void load(void)
{
    handle module = 0, function = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    CUresult result = cuModuleLoadData(&module, text);
    answer(result, "load");
    if (result != 0 || cuModuleGetFunction(&function, module, "attack") != 0)
        return;
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, NULL);
    LATER(0);
}

static void end_and_load(void)
{
    say("ret;\n}\n");
    load();
}

static void parameter(void)
{
    begin();
    say(".visible .entry attack(.param .align 8 .b8 big[2147483647])\n{\n");
    end_and_load();
}

static void parameter_of_function(void)
{
    begin();
    say(".func f(.param .align 8 .b8 big[2147483647])\n{\nret;\n}\n%s", KERNEL);
    say("{\n.param .align 8 .b8 a[2147483647];\ncall.uni f, (a);\n}\n");
    end_and_load();
}

static void registers(void)
{
    begin();
    say(".visible .entry attack(.param .u64 out)\n{\n.reg .b64 %%d<2147483647>;\nadd.u64 %%d2147483646, %%d2147483645, 1;\n");
    end_and_load();
}

static void registers_in_blocks(void)
{
    begin();
    say("%s", KERNEL);
    for (int i = 0; i < many; i++)
        say("{\n.reg .b64 %%e<100000>;\nmov.u64 %%e%d, %d;\n}\n", i, i);
    end_and_load();
}

static void variables(void)
{
    begin();
    say(".global .b32 v<65535>;\n.global .b8 large[4294967295];\n.shared .b32 s<65535>;\n%s", KERNEL);
    end_and_load();
}

static void nested_loops(void)
{
    begin();
    say("%s", KERNEL);
    for (int i = 0; i < many; i++)
        say("l%d:\nadd.u32 %%r1, %%r1, 1;\n", i);
    for (int i = many - 1; i >= 0; i--)
        say("setp.lt.u32 %%p, %%r1, %d;\n@%%p bra l%d;\n", i, i);
    end_and_load();
}

static void nested_blocks(void)
{
    begin();
    say("%s", KERNEL);
    for (int i = 0; i < many; i++)
        say("{\n.reg .b32 %%r1;\n");
    for (int i = 0; i < many; i++)
        say("}\n");
    end_and_load();
}

static void nested_expression(void)
{
    begin();
    say("%s", KERNEL);
    say("mov.u32 %%r1, ");
    for (int i = 0; i < lines; i++)
        say("(");
    say("1");
    for (int i = 0; i < lines; i++)
        say(")");
    say(";\n");
    end_and_load();
}

static void nested_initialiser(void)
{
    begin();
    say(".global .b32 v[1] = ");
    for (int i = 0; i < lines; i++)
        say("{");
    say("1");
    for (int i = 0; i < lines; i++)
        say("}");
    say(";\n%s", KERNEL);
    end_and_load();
}

/* Each branch joins with all before it: frontiers of dominators grow with the square of the text. */
static void ladder(void)
{
    begin();
    say("%s", KERNEL);
    for (int i = 0; i < many; i++)
        say("setp.lt.u32 %%p, %%r1, %d;\n@%%p bra out%d;\nadd.u32 %%r1, %%r1, 1;\n", i, i);
    for (int i = many - 1; i >= 0; i--)
        say("out%d:\nadd.u32 %%r2, %%r2, %%r1;\n", i);
    end_and_load();
}

/* Every loop is entered in its middle. */
static void tangle(void)
{
    begin();
    say("%s", KERNEL);
    for (int i = 0; i < many; i++)
        say("t%d:\nsetp.eq.u32 %%p, %%r1, %d;\n@%%p bra t%d;\nadd.u32 %%r1, %%r1, 1;\n", i, i,
            (int)((i * 7919L + 12345) % many));
    end_and_load();
}

static void targets(void)
{
    begin();
    say("%s", KERNEL);
    for (int i = 0; i < tables; i++) {
        say("table%d: .branchtargets t0", i);
        for (int n = 1; n < 2000; n++)
            say(", t%d", n);
        say(";\nbrx.idx %%r1, table%d;\n", i);
    }
    for (int n = 0; n < 2000; n++)
        say("t%d:\nadd.u32 %%r1, %%r1, %d;\n", n, n);
    end_and_load();
}

static void accesses(void)
{
    begin();
    say("%sld.param.u64 %%d1, [out];\n", KERNEL);
    for (int i = 0; i < lines; i++)
        say("add.u64 %%d%d, %%d%d, %%d1;\nld.global.u32 %%r1, [%%d%d];\n", 2 + i % 7, 2 + (i + 3) % 7, 2 + i % 7);
    end_and_load();
}

static void functions(void)
{
    begin();
    for (int i = 0; i < many; i++)
        say(".func f%d(.param .u64 a);\n", i);
    for (int i = 0; i < many; i++) {
        say(".func f%d(.param .u64 a)\n{\n", i);
        if (i > 0)
            say("{\n.param .b64 x;\ncall.uni f%d, (x);\n}\n{\n.param .b64 x;\ncall.uni f%d, (x);\n}\n", i - 1, i / 2);
        say("ret;\n}\n");
    }
    say("%s{\n.param .b64 x;\ncall.uni f%d, (x);\n}\n", KERNEL, many - 1);
    end_and_load();
}

static void pointers_to_functions(void)
{
    begin();
    for (int i = 0; i < many; i++)
        say(".func f%d(.param .u64 a)\n{\nret;\n}\n", i);
    say(".global .u64 all[%d] = {f0", many);
    for (int i = 1; i < many; i++)
        say(", f%d", i);
    say("};\n%s", KERNEL);
    for (int i = 0; i < calls; i++)
        say("{\n.param .b64 x;\np%d: .callprototype _ (.param .b64 _);\ncall %%d1, (x), p%d;\n}\n", i, i);
    end_and_load();
}

static void long_name(void)
{
    begin();
    say(".global .b32 ");
    for (int i = 0; i < words; i++)
        say("nameless");
    say(";\n%s", KERNEL);
    end_and_load();
}

static void printing(void)
{
    begin();
    say(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .b8 s[65536] = {37, 115, 0};\n%s",
        KERNEL);
    for (int i = 0; i < printed; i++)
        say("{\n.param .b64 f;\n.param .b64 a;\n.param .b32 r;\nmov.u64 %%d1, s;\ncvta.global.u64 %%d2, %%d1;\nst.param.b64 [f], %%d2;\n"
            "st.param.b64 [a], %%d3;\ncall.uni (r), vprintf, (f, a);\n}\n");
    end_and_load();
}

static const struct attack attacks[] = {
    {"parameter", "harmless 60", "a kernel with a parameter of 2 GB", parameter},
    {"parameter_of_function", "harmless 60", "a function with a parameter of 2 GB", parameter_of_function},
    {"registers", "harmless 60", "a row of 2^31 - 1 registers", registers},
    {"registers_in_blocks", "harmless 60", "30,000 blocks with a row of 100,000 registers each", registers_in_blocks},
    {"variables", "harmless 60", "rows of 65,535 variables, and one of 4 GB", variables},
    {"nested_loops", "harmless 60", "30,000 loops in each other", nested_loops},
    {"nested_blocks", "harmless 60", "30,000 blocks in each other, all with a register of one name", nested_blocks},
    {"nested_expression", "harmless 60", "400,000 parentheses in each other", nested_expression},
    {"nested_initialiser", "harmless 60", "400,000 braces in each other", nested_initialiser},
    {"ladder", "stopped 20", "30,000 branches that all join", ladder},
    {"tangle", "stopped 20", "30,000 loops that are entered in their middle", tangle},
    {"targets", "harmless 60", "200 branches to 2,000 places each", targets},
    {"accesses", "harmless 60", "400,000 accesses, each with an address of its own", accesses},
    {"functions", "harmless 60", "30,000 functions, of which each calls two", functions},
    {"pointers_to_functions", "stopped 20", "1,000 calls of 30,000 functions", pointers_to_functions},
    {"long_name", "stopped 20", "a name of 25 MB", long_name},
    {"printing", "harmless 60", "20,000 calls of printf", printing},
};
ATTACKS(attacks)
