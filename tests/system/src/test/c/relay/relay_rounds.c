/*
 * Measures round trips to the executor, or floods the ring.
 *     relay_rounds flood          submits without waiting until it is killed; says "flooding"
 *     relay_rounds measure CALLS  prints the median and the longest of that many round trips in nanoseconds
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    void *context, *stream;
    CUdeviceptr memory;
    size_t free_bytes, total;
    CHECK(argc >= 2);
    alarm(120);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&memory, 4096));
    if (strcmp(argv[1], "flood") == 0) {
        printf("flooding\n");
        fflush(stdout);
        for (;;)
            OKAY(cuMemsetD8Async(memory, 1, 64, stream));
    }
    CHECK(argc == 3);
    int calls = atoi(argv[2]);
    uint64_t *took = calloc((size_t)calls, sizeof *took);
    CHECK(took != NULL && calls > 0);
    for (int i = 0; i < calls; i++) {
        uint64_t from = now_ns();
        OKAY(cuMemGetInfo_v2(&free_bytes, &total));
        took[i] = now_ns() - from;
    }
    qsort(took, (size_t)calls, sizeof *took, by_size);
    printf("%llu %llu\n", (unsigned long long)took[calls / 2], (unsigned long long)took[calls - 1]);
    return 0;
}
