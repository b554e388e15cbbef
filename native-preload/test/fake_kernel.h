/* The kernel that looks at memory (src/direct/content/content.cu), as the fake driver runs it: in C, on the host. */
#ifndef TESSERA_FAKE_KERNEL_H
#define TESSERA_FAKE_KERNEL_H

#include "fake_contexts.h"

#define CONTENT_ROWS 512
#define CONTENT_THREADS 256
#define CONTENT_LINES 4
#define CONTENT_SHIFT 2
#define CONTENT_PRIME ((1ULL << 61) - 1)

static uint32_t content_words[CONTENT_ROWS * 4 + CONTENT_SHIFT * (CONTENT_LINES - 1)];
static uint64_t content_numbers[CONTENT_THREADS * CONTENT_LINES * 2];
static bool content_runs = true; /* else launches are accepted and nothing is done */

__attribute__((no_sanitize_thread)) static uint64_t content_product(uint64_t key, uint32_t value)
{
    return (uint64_t)((unsigned __int128)key * value % CONTENT_PRIME);
}

/*
 * What the kernel computes of 2 MiB: four numbers, and whether anything is not zero. A sample reads memory that the program may write
 * meanwhile, which is no fault.
 */
__attribute__((no_sanitize_thread)) static void content_block(const uint32_t *memory, uint64_t *results)
{
    memset(results, 0, (CONTENT_LINES + 1) * sizeof *results);
    for (unsigned thread = 0; thread < CONTENT_THREADS; thread++) {
        uint64_t lines[CONTENT_LINES] = {0};
        for (unsigned row = 0; row < CONTENT_ROWS; row++) {
            const uint32_t *value = memory + (row * CONTENT_THREADS + thread) * 4;
            results[CONTENT_LINES] |= (value[0] | value[1] | value[2] | value[3]) != 0;
            for (unsigned i = 0; i < CONTENT_LINES; i++) {
                const uint32_t *key = content_words + row * 4 + i * CONTENT_SHIFT;
                lines[i] += (uint64_t)(uint32_t)(value[0] + key[0]) * (uint32_t)(value[1] + key[1]);
                lines[i] += (uint64_t)(uint32_t)(value[2] + key[2]) * (uint32_t)(value[3] + key[3]);
            }
        }
        for (unsigned i = 0; i < CONTENT_LINES; i++) {
            const uint64_t *key = content_numbers + (thread * CONTENT_LINES + i) * 2;
            uint64_t sum = content_product(key[0], (uint32_t)lines[i]) +
                           content_product(key[1], (uint32_t)(lines[i] >> 32));
            results[i] = (results[i] + sum) % CONTENT_PRIME;
        }
    }
}

static CUresult fake_cuModuleLoadData(CUmodule *module, const void *image)
{
    FAKE_CALL;
    CHECK(strstr(image, ".entry tessera_content"));
    *module = (CUmodule)content_words;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuModuleUnload(CUmodule module)
{
    FAKE_CALL;
    CHECK(module == (CUmodule)content_words);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    FAKE_CALL;
    CHECK(module == (CUmodule)content_words && strcmp(name, "tessera_content") == 0);
    *function = (CUfunction)content_numbers;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    FAKE_CALL;
    bool words = strcmp(name, "tessera_content_words") == 0;
    CHECK(module == (CUmodule)content_words && (words || strcmp(name, "tessera_content_numbers") == 0));
    *address = words ? (CUdeviceptr)(uintptr_t)content_words : (CUdeviceptr)(uintptr_t)content_numbers;
    *bytes = words ? sizeof content_words : sizeof content_numbers;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads,
                                    unsigned rows, unsigned layers, unsigned shared, CUstream stream, void **arguments,
                                    void **extra)
{
    FAKE_CALL;
    CHECK(function == (CUfunction)content_numbers && y == 1 && z == 1 && threads == CONTENT_THREADS && rows == 1 &&
          layers == 1 && shared == 0 && stream && !extra);
    const uint64_t *parts = *(uint64_t **)arguments[0];
    uint64_t *results = *(uint64_t **)arguments[1];
    for (unsigned block = 0; block < x && content_runs && !fake.faulted; block++)
        if (parts[block])
            content_block((const uint32_t *)(uintptr_t)parts[block], results + block * (CONTENT_LINES + 1));
    return fake_leave(fake.faulted ? FAKE_FAULT : CUDA_SUCCESS);
}

#endif
