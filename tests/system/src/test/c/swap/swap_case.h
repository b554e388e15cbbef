/*
 * A case of plan swap on a device of 256 MiB, with the manager of residency_manager.h: its first turn, all memory taken
 * away and given back, streams that are held up, contents.
 */
#ifndef SWAP_CASE_H
#define SWAP_CASE_H

#include "cuda_calls.h"
#include "cuda_constants.h"
#include "residency_manager.h"

#define MIB (1ULL << 20)
#define CAPACITY (192 * MIB)

static void *context, *filler, *stream, *other;
static CUdeviceptr word; /* streams are held up by waiting for it */
static uint32_t holds;

static inline void evict(void)
{
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    manager_target(0);
    manager_await_resident(0);
}

static inline void bring_back(void)
{
    manager_target(CAPACITY);
    manager_order(TESSERA_TURN_GRANTED);
    manager_await_ack(TESSERA_ACK_OPEN);
}

static inline void move(void)
{
    evict();
    bring_back();
}

static inline void begin(void)
{
    void *module, *host;
    manager_start();
    OKAY(cuInit(0));
    manager_words()->pinned_target = manager_words()->pageable_target = 512 * MIB;
    manager_words()->capacity_bytes = CAPACITY;
    manager_words()->resident_target = CAPACITY;
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&filler, module, "scripted_fill"));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemHostAlloc(&host, 4096, 2));
    OKAY(cuMemHostGetDevicePointer_v2(&word, host, 0));
    bring_back();
}

static inline void hold(void *on)
{
    OKAY(cuStreamWaitValue32_v2(on, word, ++holds, 0));
}

static inline void let_go(void)
{
    __atomic_store_n((uint32_t *)(uintptr_t)word, holds, __ATOMIC_RELEASE);
}

static inline void fill(CUdeviceptr p, uint32_t value, uint64_t bytes, void *on)
{
    uint64_t words = bytes / 4;
    void *parameters[] = {&p, &value, &words};
    OKAY(cuLaunchKernel(filler, 1, 1, 1, 1, 1, 1, 0, on, parameters, NULL));
}

static inline void has(CUdeviceptr p, uint32_t value, uint64_t bytes)
{
    uint32_t first = ~value, last = ~value;
    OKAY(cuMemcpyDtoH_v2(&first, p, 4));
    OKAY(cuMemcpyDtoH_v2(&last, p + bytes - 4, 4));
    EQUAL(value, first);
    EQUAL(value, last);
}

static inline CUdeviceptr allocate(uint64_t bytes, void *on)
{
    CUdeviceptr p = 0;
    OKAY(cuMemAllocAsync(&p, bytes, on));
    return p;
}

/* Runs the case that the program's only argument names. */
struct swap_case {
    const char *name;
    void (*run)(void);
};

static inline int run_case(const struct swap_case *cases, size_t count, int argc, char **argv)
{
    CHECK(argc == 2);
    for (size_t i = 0; i < count; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) {
            begin();
            cases[i].run();
            printf("done\n");
            return 0;
        }
    return 2;
}

#endif
