/*
 * Runs one attacking kernel: kernel FILE.ptx. Every file has an entry `attack` with the parameters (u64 target, u64 own,
 * u64 out, u64 distance), some an entry `prepare` with the same that runs before. In the text @TARGET@, @DISTANCE@,
 * @TEXTURE@ and @SURFACE@ are replaced by what the victim says of itself, because a program that makes its own code can
 * have any number in it. Comments at the top of a file say what it does, what must happen, and its launch:
 *     // what: ...     // must: ...     // aim: FACT     // grid: 1 or 1,2,3     // block: 32     // shared: 0
 *     // options: debug (compiled for a debugger, not optimised)
 *     // waits: before (the stream waits for a value that is there) | beside (another stream waits for one that never comes)
 * A line "// text" begins another text; several are linked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "cuda_constants.h"

enum { TEXT_BYTES = 1 << 16 };

#define BORDER "\n// text\n"

static char text[TEXT_BYTES];
static char code[2 * TEXT_BYTES];

static void load_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(3);
    }
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
}

/* The value behind a comment of the head; the default where there is none. */
static const char *told(const char *key, const char *otherwise)
{
    static char value[8][64];
    static int used;
    char mark[32];
    snprintf(mark, sizeof mark, "// %s: ", key);
    const char *found = strstr(text, mark);
    if (!found)
        return otherwise;
    char *place = value[used++ % 8];
    sscanf(found + strlen(mark), "%63[^\n]", place);
    return place;
}

static void substitute(const char *mark, uint64_t value)
{
    char number[32], *at;
    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    while ((at = strstr(code, mark)) != NULL) {
        size_t rest = strlen(at + strlen(mark)) + 1, length = strlen(number);
        memmove(at + length, at + strlen(mark), rest);
        memcpy(at, number, length);
    }
}

/* The parts between lines "// text", linked. */
static CUresult link_code(handle *module)
{
    handle linking;
    void *image = NULL;
    size_t bytes = 0;
    CUresult result = cuLinkCreate(0, NULL, NULL, &linking);
    for (char *part = code, *next; result == 0 && part; part = next) {
        next = strstr(part, BORDER);
        if (next) {
            *next = 0;
            next += strlen(BORDER);
        }
        result = cuLinkAddData(linking, CU_JIT_INPUT_PTX, part, strlen(part) + 1, "part", 0, NULL, NULL);
    }
    if (result == 0)
        result = cuLinkComplete(linking, &image, &bytes);
    return result ? result : cuModuleLoadData(module, image);
}

/* Without optimisation, and with debug information, a compiler keeps in memory what it would else keep in registers: frames, for one. */
static CUresult load_code(handle *module)
{
    int options[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_GENERATE_DEBUG_INFO};
    void *values[] = {(void *)0, (void *)1};
    if (strstr(code, BORDER))
        return link_code(module);
    int debug = strcmp(told("options", ""), "debug") == 0;
    return cuModuleLoadDataEx(module, code, debug ? 2 : 0, options, values);
}

/* What excuses a stream that stands still excuses no kernel. */
static void wait_by_right(const char *where, CUdeviceptr own)
{
    handle beside = 0;
    if (strcmp(where, "before") == 0) {
        NEED(cuStreamWaitValue32(0, own, 0, 0));
    } else if (strcmp(where, "beside") == 0) {
        NEED(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
        NEED(cuStreamWaitValue32(beside, own + 8, 77, 1));
    }
}

int main(int argc, char **argv)
{
    handle module, function;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.ptx\n", argv[0]);
        return 2;
    }
    load_text(argv[1]);
    driver_open();
    CUdeviceptr target = fact(told("aim", "device")), own = own_memory(), out = own + OWN_BYTES / 2;
    uint64_t distance = target - own;
    strcpy(code, text);
    substitute("@TARGET@", target);
    substitute("@DISTANCE@", distance);
    substitute("@TEXTURE@", fact("texture"));
    substitute("@SURFACE@", fact("surface"));
    NEED(cuMemcpyHtoD(own, &target, sizeof target));
    CUresult result = load_code(&module);
    if (!result)
        result = cuModuleGetFunction(&function, module, "attack");
    if (result) {
        answer(result, "load");
        return 0;
    }
    void *parameters[] = {&target, &own, &out, &distance};
    handle prepare;
    if (strstr(text, ".entry prepare") && cuModuleGetFunction(&prepare, module, "prepare") == 0)
        ANSWER(cuLaunchKernel(prepare, 1, 1, 1, 1, 1, 1, 0, 0, parameters, NULL));
    wait_by_right(told("waits", ""), own);
    unsigned shared = (unsigned)atoi(told("shared", "0"));
    unsigned x = 1, y = 1, z = 1;
    sscanf(told("grid", "1"), "%u,%u,%u", &x, &y, &z);
    answer(cuLaunchKernel(function, x, y, z, (unsigned)atoi(told("block", "32")), 1, 1, shared, 0, parameters, NULL),
           "launch");
    result = cuCtxSynchronize();
    answer(result, "synchronize");
    loot_device(out, 4096);
    printf("done\n");
    return 0;
}
