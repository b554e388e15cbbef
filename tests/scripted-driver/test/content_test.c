/*
 * The kernel that looks at memory: what it says of zero, of one bit and of all ones is what content.cu says, thread by thread; a part
 * without an address is left alone; memory that is not there is a fault.
 */
#include <string.h>

#include "check.h"
#include "modules/content_kernel.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define PARTS 4 /* zero, one bit, all ones, none */
#define PRIME ((1ULL << 61) - 1)
#define UNTOUCHED 0x77

static uint32_t words[CONTENT_WORDS_BYTES / 4], part[CONTENT_PART_BYTES / 4];
static uint64_t numbers[CONTENT_NUMBERS_BYTES / 8];

static struct {
    uint64_t parts[PARTS], results[PARTS][CONTENT_RESULTS];
} * shared;

static uint64_t draw(void)
{
    static uint64_t state = 4711;
    state ^= state << 13; /* xorshift64 (Marsaglia 2003) */
    state ^= state >> 7;
    return state ^= state << 17;
}

/* What the kernel's text says, for the memory that `part` holds. */
static void expect(const uint64_t *results)
{
    uint64_t wanted[CONTENT_LINES] = {0}, any = 0;
    for (size_t thread = 0; thread < CONTENT_THREADS; thread++)
        for (size_t line = 0; line < CONTENT_LINES; line++) {
            uint64_t sum = 0;
            for (size_t row = 0; row < CONTENT_ROWS; row++)
                for (size_t pair = 0; pair < 4; pair += 2) {
                    const uint32_t *value = part + (row * CONTENT_THREADS + thread) * 4 + pair;
                    const uint32_t *key = words + row * 4 + line * CONTENT_SHIFT + pair;
                    sum += (uint64_t)(uint32_t)(value[0] + key[0]) * (uint32_t)(value[1] + key[1]);
                    any |= value[0] | value[1];
                }
            const uint64_t *key = numbers + (thread * CONTENT_LINES + line) * 2;
            unsigned __int128 total = (unsigned __int128)key[0] * (uint32_t)sum;
            total += (unsigned __int128)key[1] * (sum >> 32) + wanted[line];
            wanted[line] = (uint64_t)(total % PRIME);
        }
    EQUAL(0, memcmp(wanted, results, sizeof wanted));
    EQUAL(any != 0, results[CONTENT_LINES]);
}

static void give_keys(void *module, const char *name, const void *keys, size_t bytes)
{
    CUdeviceptr at;
    size_t room;
    OKAY(cuModuleGetGlobal_v2(&at, &room, module, name));
    EQUAL(bytes, room);
    OKAY(cuMemcpyHtoD_v2(at, keys, bytes));
}

static void run(void *kernel)
{
    CUdeviceptr parts = (CUdeviceptr)(uintptr_t)shared->parts, results = (CUdeviceptr)(uintptr_t)shared->results;
    void *parameters[] = {&parts, &results};
    OKAY(cuLaunchKernel(kernel, PARTS, 1, 1, CONTENT_THREADS, 1, 1, 0, NULL, parameters, NULL));
}

int main(void)
{
    void *context, *module, *kernel;
    CUdeviceptr memory;
    size_t before, after, total;
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&kernel, module, CONTENT_KERNEL));
    for (size_t i = 0; i < CONTENT_WORDS_BYTES / 4; i++)
        words[i] = (uint32_t)draw();
    for (size_t i = 0; i < CONTENT_NUMBERS_BYTES / 8; i++)
        numbers[i] = draw() & PRIME;
    OKAY(cuMemGetInfo_v2(&before, &total));
    give_keys(module, CONTENT_WORDS, words, sizeof words);
    give_keys(module, CONTENT_NUMBERS, numbers, sizeof numbers);
    OKAY(cuMemGetInfo_v2(&after, &total));
    EQUAL(before, after); /* variables are part of the code */
    OKAY(cuMemHostAlloc((void **)&shared, sizeof *shared, 0));
    memset(shared, UNTOUCHED, sizeof *shared);
    OKAY(cuMemAlloc_v2(&memory, (PARTS - 1) * (size_t)CONTENT_PART_BYTES));
    OKAY(cuMemsetD8_v2(memory, 0, 2 * CONTENT_PART_BYTES));
    OKAY(cuMemsetD32_v2(memory + CONTENT_PART_BYTES + CONTENT_PART_BYTES / 2, 0x10000, 1));
    OKAY(cuMemsetD8_v2(memory + 2 * CONTENT_PART_BYTES, 0xff, CONTENT_PART_BYTES));
    for (uint64_t i = 0; i < PARTS; i++)
        shared->parts[i] = i < PARTS - 1 ? memory + i * CONTENT_PART_BYTES : 0;
    run(kernel);
    OKAY(cuCtxSynchronize());
    for (size_t i = 0; i < PARTS - 1; i++) {
        OKAY(cuMemcpyDtoH_v2(part, memory + i * CONTENT_PART_BYTES, sizeof part));
        expect(shared->results[i]);
    }
    EQUAL(UNTOUCHED, *(unsigned char *)shared->results[PARTS - 1]);
    shared->parts[PARTS - 1] = memory + CONTENT_PART_BYTES * (PARTS - 1); /* behind the end */
    run(kernel);
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    return 0;
}
