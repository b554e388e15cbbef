/* A library that works on the device from its constructor and its destructor, for several turns each. */
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"

enum { ROUNDS = 20, PAUSE_US = 5000 };
static const size_t BYTES = 24u << 20;

static void *context;
static CUdeviceptr memory;

static void work(unsigned first)
{
    for (unsigned round = first; round < first + ROUNDS; round++) {
        unsigned value = 0;
        OKAY(cuMemsetD32_v2(memory, round, BYTES / 4));
        usleep(PAUSE_US);
        OKAY(cuMemcpyDtoH_v2(&value, memory + BYTES - 4, 4));
        EQUAL(round, value);
    }
}

__attribute__((constructor)) static void opened(void)
{
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    OKAY(cuMemAlloc_v2(&memory, BYTES));
    work(1);
    printf("constructor\n");
    fflush(stdout);
}

__attribute__((destructor)) static void closed(void)
{
    unsigned value = 0;
    OKAY(cuMemcpyDtoH_v2(&value, memory, 4));
    EQUAL(ROUNDS, value);
    work(ROUNDS + 1);
    OKAY(cuMemFree_v2(memory));
    OKAY(cuCtxDestroy_v2(context));
    printf("destructor\n");
    fflush(stdout);
}
