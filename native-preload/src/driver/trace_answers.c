#include "driver/trace_answers.h"

#include <stdio.h>
#include <string.h>

#include "tessera_entries.h"

enum kind {
    NOTHING,
    INT,           /* of 32 bits, written by the call */
    SIZE,          /* of 64 bits, written by the call */
    HANDLE,        /* written by the call */
    PRESENCE,      /* a pointer written by the call, shown as 0 if it is NULL, else as 1 */
    TEXT,          /* a name, an input of the call */
    POINTER_VALUE, /* an INT, if the attribute in argument 1 has a number as its value */
    POOL_VALUE,    /* an INT or a SIZE, by the attribute in argument 1 */
    CONFIGURATION, /* CUlaunchConfig, an input: grid, block, bytes of dynamic shared memory */
};

#define PLACES 3

/* Queries by which libraries decide what to do, and calls that show what they decided. */
static const struct told {
    const char *entry;
    struct {
        uint8_t argument, kind;
    } place[PLACES];
} all_told[] = {
    {"cuDriverGetVersion", {{0, INT}}},
    {"cuDeviceGetCount", {{0, INT}}},
    {"cuDeviceGetAttribute", {{0, INT}}},
    {"cuDeviceTotalMem_v2", {{0, SIZE}}},
    {"cuDeviceComputeCapability", {{0, INT}, {1, INT}}},
    {"cuDeviceGetTexture1DLinearMaxWidth", {{0, SIZE}}},
    {"cuDeviceCanAccessPeer", {{0, INT}}},
    {"cuDeviceGetP2PAttribute", {{0, INT}}},
    {"cuDevicePrimaryCtxGetState", {{1, INT}, {2, INT}}},
    {"cuCtxGetApiVersion", {{1, INT}}},
    {"cuCtxGetFlags", {{0, INT}}},
    {"cuCtxGetLimit", {{0, SIZE}}},
    {"cuCtxGetCacheConfig", {{0, INT}}},
    {"cuCtxGetSharedMemConfig", {{0, INT}}},
    {"cuCtxGetStreamPriorityRange", {{0, INT}, {1, INT}}},
    {"cuStreamGetPriority", {{1, INT}}},
    {"cuStreamGetFlags", {{1, INT}}},
    {"cuStreamIsCapturing", {{1, INT}}},
    {"cuMemGetInfo_v2", {{0, SIZE}, {1, SIZE}}},
    {"cuMemGetAllocationGranularity", {{0, SIZE}}},
    {"cuMemHostGetFlags", {{0, INT}}},
    {"cuMemPoolGetAttribute", {{2, POOL_VALUE}}},
    {"cuPointerGetAttribute", {{0, POINTER_VALUE}}},
    {"cuModuleGetLoadingMode", {{0, INT}}},
    {"cuModuleGetFunctionCount", {{0, INT}}},
    {"cuModuleGetFunction", {{0, HANDLE}, {2, TEXT}}},
    {"cuModuleGetGlobal_v2", {{1, SIZE}, {3, TEXT}}},
    {"cuLibraryGetKernelCount", {{0, INT}}},
    {"cuLibraryGetKernel", {{0, HANDLE}, {2, TEXT}}},
    {"cuLibraryGetGlobal", {{1, SIZE}, {3, TEXT}}},
    {"cuKernelGetFunction", {{0, HANDLE}}},
    {"cuKernelGetAttribute", {{0, INT}}},
    {"cuKernelGetParamInfo", {{2, SIZE}, {3, SIZE}}},
    {"cuFuncGetAttribute", {{0, INT}}},
    {"cuFuncGetParamInfo", {{2, SIZE}, {3, SIZE}}},
    {"cuFuncIsLoaded", {{0, INT}}},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", {{0, INT}}},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", {{0, INT}}},
    {"cuOccupancyMaxPotentialBlockSize", {{0, INT}, {1, INT}}},
    {"cuOccupancyMaxPotentialBlockSizeWithFlags", {{0, INT}, {1, INT}}},
    {"cuOccupancyAvailableDynamicSMemPerBlock", {{0, SIZE}}},
    {"cuOccupancyMaxActiveClusters", {{0, INT}}},
    {"cuOccupancyMaxPotentialClusterSize", {{0, INT}}},
    {"cuGetProcAddress", {{0, TEXT}, {1, PRESENCE}}},
    {"cuGetProcAddress_v2", {{0, TEXT}, {1, PRESENCE}, {4, INT}}},
    {"cuLaunchKernelEx", {{0, CONFIGURATION}}},
};

static const struct told *told_by[TESSERA_ENTRY_COUNT];

void trace_answers_prepare(void)
{
    for (unsigned entry = 0; entry < TESSERA_ENTRY_COUNT; entry++) {
        const char *name = tessera_entry_name[entry];
        for (size_t i = 0; i < sizeof all_told / sizeof *all_told; i++) {
            size_t bytes = strlen(all_told[i].entry);
            /* The variants for per-thread default streams have the same arguments. */
            if (strncmp(name, all_told[i].entry, bytes) == 0 && (name[bytes] == 0 || strcmp(name + bytes, "_ptsz") == 0))
                told_by[entry] = &all_told[i];
        }
    }
}

/* Readers split a line at spaces, so a byte of the name that is not a visible ASCII character becomes '_'. */
static int write_text(char *to, size_t room, unsigned argument, const char *name)
{
    int bytes = snprintf(to, room, " %u=%.200s", argument, name);
    for (char *c = to + 1; bytes > 0 && *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c > '~')
            *c = '_';
    return bytes;
}

static int write_number(char *to, size_t room, unsigned argument, const void *value, size_t bytes)
{
    int32_t narrow;
    uint64_t wide;
    if (bytes == sizeof narrow) {
        memcpy(&narrow, value, sizeof narrow);
        return snprintf(to, room, " %u=%d", argument, narrow);
    }
    memcpy(&wide, value, sizeof wide);
    return snprintf(to, room, " %u=%llu", argument, (unsigned long long)wide);
}

/* pointers: the pointer attributes whose values are numbers with the same meaning in every process. POOL_INTS: the last
 * pool attribute with a value of 32 bits. */
static int write_by_attribute(char *to, size_t room, unsigned argument, const void *value, enum kind kind,
                              uintptr_t attribute)
{
    enum { POOL_INTS = 3 };
    static const char pointers[] = {2, 6, 8, 9, 10, 13, 15, 16};
    attribute = (uint32_t)attribute;
    if (kind == POOL_VALUE)
        return write_number(to, room, argument, value, attribute <= POOL_INTS ? sizeof(int32_t) : sizeof(uint64_t));
    if (attribute > INT8_MAX || !memchr(pointers, (int)attribute, sizeof pointers))
        return 0;
    return write_number(to, room, argument, value, sizeof(int32_t));
}

static int write_configuration(char *to, size_t room, unsigned argument, const void *configuration)
{
    uint32_t word[7];
    memcpy(word, configuration, sizeof word);
    return snprintf(to, room, " %u=%u,%u,%u,%u,%u,%u,%u", argument, word[0], word[1], word[2], word[3], word[4],
                    word[5], word[6]);
}

static int write_place(char *to, size_t room, unsigned argument, enum kind kind, const uintptr_t *arguments, int result)
{
    const void *value = (const void *)arguments[argument];
    uint64_t pointer;
    if (kind == NOTHING || !value)
        return 0;
    if (kind == TEXT)
        return result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_FOUND ? write_text(to, room, argument, value) : 0;
    if (result != CUDA_SUCCESS)
        return 0;
    switch (kind) {
    case INT:
        return write_number(to, room, argument, value, sizeof(int32_t));
    case SIZE:
        return write_number(to, room, argument, value, sizeof(uint64_t));
    case POINTER_VALUE:
    case POOL_VALUE:
        return write_by_attribute(to, room, argument, value, kind, arguments[1]);
    case CONFIGURATION:
        return write_configuration(to, room, argument, value);
    default:
        memcpy(&pointer, value, sizeof pointer);
        return kind == PRESENCE ? snprintf(to, room, " %u=%d", argument, pointer != 0)
                                : snprintf(to, room, " %u=%llx", argument, (unsigned long long)pointer);
    }
}

void trace_answers(unsigned entry, int result, const uintptr_t *arguments, char text[static TRACE_ANSWERS_BYTES])
{
    const struct told *told = told_by[entry];
    int used = 0;
    text[0] = 0;
    for (unsigned i = 0; told && i < PLACES && used < TRACE_ANSWERS_BYTES - 1; i++) {
        int more = write_place(text + used, (size_t)(TRACE_ANSWERS_BYTES - used), told->place[i].argument,
                               (enum kind)told->place[i].kind, arguments, result);
        used += more > 0 ? more : 0;
    }
}
