/*
 * Loads code through the relay.
 *     relay_code ordinary SEED        small programs, each another one, until a line comes on stdin; says "ready" after the first, and at the
 *                                     end "right ROUNDS LOST": the texts loaded, and those answered as if they were no PTX.
 *                                     RELAY_WORKER_PAUSE_US: between rounds, as of relay_worker
 *     relay_code WHAT                 one text that takes more than there is; says "answer RESULT"
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { TEXT_BYTES = 8 << 20, MANY = 10000 };

static char text[TEXT_BYTES];
static const char *const HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";

static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

static void ordinary(unsigned seed)
{
    void *module, *function;
    int right = 0, lost = 0;
    const char *pause = getenv("RELAY_WORKER_PAUSE_US");
    for (int round = 0; round == 0 || !told_to_end(); round++) {
        snprintf(text, sizeof text,
                 "%s.visible .entry scripted_fill(.param .u64 to)\n{\n.reg .b64 %%d<2>;\nld.param.u64 %%d1, [to];\nst.global.u32 [%%d1], %u;\n"
                 "ret;\n}\n",
                 HEAD, seed + (unsigned)round);
        CUresult result = cuModuleLoadData(&module, text);
        if (result == CUDA_ERROR_INVALID_PTX) {
            lost++;
            continue;
        }
        OKAY(result);
        OKAY(cuModuleGetFunction(&function, module, "scripted_fill"));
        OKAY(cuModuleUnload(module));
        if (++right == 1) {
            printf("ready\n");
            fflush(stdout);
        }
        if (pause)
            usleep((useconds_t)atoi(pause));
    }
    printf("right %d %d\n", right, lost);
}

static void nested_loops(void)
{
    char *at = text + sprintf(text,
                              "%s.visible .entry work(.param .u64 to)\n{\n.reg .b32 %%r<%d>;\n.reg .pred %%p<%d>;\n",
                              HEAD, MANY, MANY);
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "mov.u32 %%r%d, 0;\nL%d:\n", i, i);
    for (int i = MANY - 1; i >= 0; i--)
        at += sprintf(at, "add.u32 %%r%d, %%r%d, 1;\nsetp.lt.u32 %%p%d, %%r%d, 2;\n@%%p%d bra L%d;\n", i, i, i, i, i, i);
    strcpy(at, "ret;\n}\n");
}

static void hostile(const char *what)
{
    void *module, *function;
    if (strcmp(what, "loops") == 0)
        nested_loops();
    else if (strcmp(what, "registers") == 0)
        snprintf(text, sizeof text,
                 "%s.visible .entry work(.param .u64 to)\n{\n.reg .b64 %%d<2147483647>;\nadd.u64 %%d2147483646, %%d2147483645, 1;\n"
                 "ret;\n}\n",
                 HEAD);
    else
        snprintf(text, sizeof text,
                 "%s.func f(.param .align 8 .b8 big[2147483647])\n{\nret;\n}\n"
                 ".visible .entry work(.param .align 8 .b8 big[2147483647])\n{\n{\n.param .align 8 .b8 a[2147483647];\n"
                 "call.uni f, (a);\n}\nret;\n}\n",
                 HEAD);
    CUresult result = cuModuleLoadData(&module, text);
    if (result == 0)
        result = cuModuleGetFunction(&function, module, "work");
    printf("answer %d\n", (int)result);
}

int main(int argc, char **argv)
{
    void *context;
    CHECK(argc >= 2);
    alarm(150);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    if (strcmp(argv[1], "ordinary") == 0)
        ordinary((unsigned)atol(argv[2]));
    else
        hostile(argv[1]);
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
