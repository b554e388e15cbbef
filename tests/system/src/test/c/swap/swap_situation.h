/*
 * What the situations of plan swap share: a program with device 0 under the manager of residency_manager.h, whose memory is
 * taken away and brought back as the test orders. The script gives the device 256 MiB.
 */
#ifndef SWAP_SITUATION_H
#define SWAP_SITUATION_H

#include "cuda_calls.h"
#include "residency_manager.h"

#define MIB (1ULL << 20)
#define CAPACITY (192 * MIB)

static void *context, *fault_function;

static inline void begin(uint64_t target)
{
    void *module;
    manager_start();
    OKAY(cuInit(0));
    manager_words()->pinned_target = manager_words()->pageable_target = 512 * MIB;
    manager_words()->capacity_bytes = CAPACITY;
    manager_words()->resident_target = target;
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&fault_function, module, "scripted_fault"));
}

static inline void grant(void)
{
    manager_order(TESSERA_TURN_GRANTED);
    manager_await_ack(TESSERA_ACK_OPEN);
}

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
    grant();
}

static inline void await_word(const uint64_t *word, uint64_t wanted)
{
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(word) != wanted; manager_pause_us(100))
        if (manager_now_ns() > until) {
            fprintf(stderr, "word %td is %llu, not %llu\n", word - (uint64_t *)manager_words(),
                    (unsigned long long)*word, (unsigned long long)wanted);
            exit(1);
        }
}

static inline CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p;
    OKAY(cuMemAlloc_v2(&p, bytes));
    return p;
}

static inline void holds(CUdeviceptr p, size_t bytes, uint32_t pattern)
{
    uint32_t first = 0, last = 0;
    OKAY(cuMemcpyDtoH_v2(&first, p, 4));
    OKAY(cuMemcpyDtoH_v2(&last, p + bytes - 4, 4));
    EQUAL(pattern, first);
    EQUAL(pattern, last);
}

static inline CUdeviceptr filled(size_t bytes, uint32_t pattern)
{
    CUdeviceptr p = allocate(bytes);
    OKAY(cuMemsetD32_v2(p, pattern, bytes / 4));
    return p;
}

/* Runs the case that the only argument names. */
struct situation {
    const char *name;
    void (*run)(void);
};

static inline int run_situation(int argc, char **argv, const struct situation *situations, size_t count)
{
    CHECK(argc == 2);
    for (size_t i = 0; i < count; i++)
        if (strcmp(argv[1], situations[i].name) == 0) {
            situations[i].run();
            printf("done\n");
            return 0;
        }
    fprintf(stderr, "no case %s\n", argv[1]);
    return 2;
}

#endif
