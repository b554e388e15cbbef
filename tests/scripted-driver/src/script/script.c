#include "script/script.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "script/clock.h"
#include "entry.h"
#include "script/witness.h"

enum { RULE_FAIL, RULE_DELAY, RULE_HANG };
enum { MAX_RULES = 128, MAX_KERNELS = 64, MAX_WORDS = 16 };

struct rule {
    int what;
    char entry[96];    /* fnmatch pattern over exported names */
    uint64_t from, to; /* calls, inclusive */
    CUresult code;
    uint64_t ns;
    char until[256];
};

struct kernel_rule {
    char name[96];
    uint64_t ns;
    bool missing;
};

struct script script = {
    .devices = 1,
    .version = 13000,
    .slice_ns = 2000000,
    .switch_ns = 200000,
    .bound_ns = 60000000000ULL,
};
static struct rule rules[MAX_RULES];
static unsigned rule_count;
static struct kernel_rule kernels[MAX_KERNELS];
static unsigned kernel_count;
static unsigned char ruled[ENTRY_COUNT]; /* whether any rule names the entry */

static void reject(const char *statement, const char *why)
{
    fprintf(stderr, "scripted driver: script statement \"%s\": %s\n", statement, why);
    _exit(86);
}

static uint64_t number(const char *statement, const char *word, const char *const units[], const uint64_t factors[])
{
    char *end;
    errno = 0;
    uint64_t value = word ? strtoull(word, &end, 10) : 0;
    if (!word || end == word || errno)
        reject(statement, "a number is expected");
    for (int i = 0; units[i]; i++)
        if (strcmp(end, units[i]) == 0)
            return value * factors[i];
    reject(statement, "unknown unit");
    return 0;
}

static uint64_t duration_ns(const char *statement, const char *word)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    static const uint64_t factors[] = {1, 1000, 1000000, 1000000000};
    return number(statement, word, units, factors);
}

static uint64_t size_bytes(const char *statement, const char *word)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", NULL};
    static const uint64_t factors[] = {1, 1 << 10, 1 << 20, 1 << 30};
    return number(statement, word, units, factors);
}

static uint64_t plain(const char *statement, const char *word)
{
    static const char *const units[] = {"", NULL};
    static const uint64_t factors[] = {1};
    return number(statement, word, units, factors);
}

static void text(const char *statement, char *into, size_t size, const char *word)
{
    if (!word || strlen(word) >= size)
        reject(statement, "a name is missing or too long");
    strcpy(into, word);
}

/* fail NAME CODE | delay NAME TIME | hang NAME, then any of: at N, from N, until PATH, for TIME */
static void read_rule(const char *statement, char **words, int what)
{
    if (rule_count == MAX_RULES)
        reject(statement, "too many rules");
    struct rule *r = &rules[rule_count++];
    *r = (struct rule){.what = what, .from = 1, .to = UINT64_MAX, .ns = script.bound_ns};
    text(statement, r->entry, sizeof r->entry, words[1]);
    int next = 2;
    if (what == RULE_FAIL)
        r->code = (CUresult)plain(statement, words[next++]);
    else if (what == RULE_DELAY)
        r->ns = duration_ns(statement, words[next++]);
    for (; words[next]; next += 2) {
        const char *key = words[next], *value = words[next + 1];
        if (strcmp(key, "at") == 0)
            r->from = r->to = plain(statement, value);
        else if (strcmp(key, "from") == 0)
            r->from = plain(statement, value);
        else if (what == RULE_HANG && strcmp(key, "until") == 0)
            text(statement, r->until, sizeof r->until, value);
        else if (what == RULE_HANG && strcmp(key, "for") == 0)
            r->ns = duration_ns(statement, value);
        else
            reject(statement, "unknown word");
        if (!value)
            reject(statement, "a value is missing");
    }
    bool matched = false;
    for (unsigned i = 0; i < ENTRY_COUNT; i++)
        if (fnmatch(r->entry, entry_names[i], 0) == 0) {
            matched = true;
            ruled[i] = 1;
        }
    if (!matched)
        reject(statement, "no exported name matches");
}

static void read_kernel(const char *statement, char **words, bool missing)
{
    if (kernel_count == MAX_KERNELS)
        reject(statement, "too many kernels");
    struct kernel_rule *k = &kernels[kernel_count++];
    text(statement, k->name, sizeof k->name, words[1]);
    k->missing = missing;
    k->ns = missing ? 0 : duration_ns(statement, words[2]);
}

static void read_memory(const char *statement, char **words)
{
    if (words[2]) { /* memory DEVICE SIZE */
        uint64_t device = plain(statement, words[1]);
        if (device >= SCRIPT_MAX_DEVICES)
            reject(statement, "no such device");
        script.memory_bytes[device] = size_bytes(statement, words[2]);
        return;
    }
    for (int i = 0; i < SCRIPT_MAX_DEVICES; i++)
        script.memory_bytes[i] = size_bytes(statement, words[1]);
}

/* visible GPU...: what CUDA_VISIBLE_DEVICES does, the GPUs in this order are the process's ordinals */
static void read_visible(const char *statement, char **words)
{
    int count = 0;
    unsigned seen = 0;
    for (; words[count + 1]; count++) {
        uint64_t gpu = plain(statement, words[count + 1]);
        if (gpu >= SCRIPT_MAX_DEVICES || seen & 1u << gpu)
            reject(statement, "no such device, or twice");
        seen |= 1u << gpu;
        script.gpu[count] = (int)gpu;
    }
    script.devices = count;
}

static void read_statement(const char *statement, char **words)
{
    const char *what = words[0];
    if (strcmp(what, "fail") == 0)
        read_rule(statement, words, RULE_FAIL);
    else if (strcmp(what, "delay") == 0)
        read_rule(statement, words, RULE_DELAY);
    else if (strcmp(what, "hang") == 0)
        read_rule(statement, words, RULE_HANG);
    else if (strcmp(what, "kernel") == 0)
        read_kernel(statement, words, false);
    else if (strcmp(what, "missing") == 0)
        read_kernel(statement, words, true);
    else if (strcmp(what, "memory") == 0)
        read_memory(statement, words);
    else if (strcmp(what, "taken") == 0)
        script.taken_bytes = size_bytes(statement, words[1]);
    else if (strcmp(what, "hidden") == 0)
        script.hidden_bytes = size_bytes(statement, words[1]);
    else if (strcmp(what, "context") == 0)
        script.context_bytes = size_bytes(statement, words[1]);
    else if (strcmp(what, "code") == 0)
        script.code_bytes = size_bytes(statement, words[1]);
    else if (strcmp(what, "devices") == 0)
        script.devices = (int)plain(statement, words[1]);
    else if (strcmp(what, "visible") == 0)
        read_visible(statement, words);
    else if (strcmp(what, "arena") == 0)
        script.arena = plain(statement, words[1]);
    else if (strcmp(what, "version") == 0)
        script.version = (int)plain(statement, words[1]);
    else if (strcmp(what, "copy") == 0)
        script.copy_ns = duration_ns(statement, words[1]);
    else if (strcmp(what, "bound") == 0)
        script.bound_ns = duration_ns(statement, words[1]);
    else if (strcmp(what, "checkpoints") == 0 && words[1])
        snprintf(script.checkpoints, sizeof script.checkpoints, "%s", words[1]);
    else if (strcmp(what, "slices") == 0) {
        script.slices = true;
        script.slice_ns = duration_ns(statement, words[1]);
        script.switch_ns = duration_ns(statement, words[2]);
    } else
        reject(statement, "unknown statement");
    if (script.devices < 0 || script.devices > SCRIPT_MAX_DEVICES)
        reject(statement, "between 0 and 8 devices");
}

static void read_line(char *line)
{
    char statement[512];
    snprintf(statement, sizeof statement, "%s", line);
    char *words[MAX_WORDS + 2] = {NULL};
    int count = 0;
    char *state;
    for (char *w = strtok_r(line, " \t\r", &state); w; w = strtok_r(NULL, " \t\r", &state)) {
        if (count == MAX_WORDS)
            reject(statement, "too many words");
        words[count++] = w;
    }
    if (count > 0 && words[0][0] != '#')
        read_statement(statement, words);
}

void script_read(void)
{
    for (int i = 0; i < SCRIPT_MAX_DEVICES; i++) {
        script.gpu[i] = i;
        script.memory_bytes[i] = 1ULL << 30;
    }
    const char *source = getenv("TESSERA_SCRIPT");
    if (!source)
        return;
    static char buffer[65536];
    if (source[0] == '@') {
        FILE *f = fopen(source + 1, "re");
        if (!f)
            reject(source, strerror(errno));
        size_t n = fread(buffer, 1, sizeof buffer - 1, f);
        buffer[n] = 0;
        fclose(f);
    } else
        snprintf(buffer, sizeof buffer, "%s", source);
    char *state;
    for (char *line = strtok_r(buffer, ";\n", &state); line; line = strtok_r(NULL, ";\n", &state))
        read_line(line);
}

/* Short delays model the host cost of a call and must be exact, so they spin; long ones sleep. */
static void delay(uint64_t ns)
{
    uint64_t end = monotonic_ns() + ns;
    if (ns > 200000)
        sleep_until_ns(end);
    while (monotonic_ns() < end)
        ;
}

static void hang(const struct rule *r)
{
    uint64_t end = monotonic_ns() + r->ns;
    while (monotonic_ns() < end && (r->until[0] == 0 || access(r->until, F_OK) != 0))
        sleep_until_ns(monotonic_ns() + 2000000);
}

CUresult script_apply(unsigned entry, uint64_t call)
{
    if (!ruled[entry])
        return OK;
    for (unsigned i = 0; i < rule_count; i++) {
        struct rule *r = &rules[i];
        if (call < r->from || call > r->to || fnmatch(r->entry, entry_names[entry], 0) != 0)
            continue;
        if (r->what == RULE_FAIL)
            return r->code;
        if (r->what == RULE_DELAY)
            delay(r->ns);
        else
            hang(r);
    }
    return OK;
}

uint64_t script_kernel_ns(const char *kernel)
{
    for (unsigned i = 0; i < kernel_count; i++)
        if (!kernels[i].missing && fnmatch(kernels[i].name, kernel, 0) == 0)
            return kernels[i].ns;
    return 0;
}

bool script_kernel_missing(const char *kernel)
{
    for (unsigned i = 0; i < kernel_count; i++)
        if (kernels[i].missing && fnmatch(kernels[i].name, kernel, 0) == 0)
            return true;
    return false;
}
