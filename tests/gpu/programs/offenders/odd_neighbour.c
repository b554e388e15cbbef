/* The neighbour of `odd_calls`: computes without a pause, and says at each line that comes in how it went since the line before. */
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "odd.h"

enum { ADDS = 20, BYTES = 65536 };

static unsigned char bytes[BYTES];
static CUdeviceptr ours;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Sets a word to 0, adds to it, and looks at it and at memory that nobody may change. Whether both are right. */
static int round_is_right(CUresult *result)
{
    void *parameters[] = {&the.memory};
    unsigned word = 0;
    *result = QUIET(cuMemsetD32Async, the.memory, 0, 1, the.stream);
    for (int many = 0; many < ADDS && !*result; many++)
        *result = QUIET(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
    if (!*result)
        *result = QUIET(cuMemcpyDtoHAsync, the.pinned, the.memory, sizeof word, the.stream);
    if (!*result)
        *result = QUIET(cuStreamSynchronize, the.stream);
    if (!*result)
        *result = QUIET(cuMemcpyDtoH, bytes, ours, BYTES);
    memcpy(&word, the.pinned, sizeof word);
    int right = !*result && word == ADDS;
    for (int at = 0; at < BYTES && right; at++)
        right = bytes[at] == 0x6b;
    return right;
}

int odd_neighbour(void)
{
    long right = 0, wrong = 0;
    double longest = 0;
    CUresult result;
    NEED(cuMemAlloc, &ours, BYTES);
    NEED(cuMemsetD8, ours, 0x6b, BYTES);
    round_is_right(&result); /* the first one loads code */
    odd_say("begun");
    for (;;) {
        struct pollfd input = {.fd = 0, .events = POLLIN};
        char line[64];
        int asked = poll(&input, 1, 0) > 0;
        if (asked && read(0, line, sizeof line) <= 0)
            return 0;
        double began = now_ms();
        round_is_right(&result) ? right++ : wrong++;
        double took = now_ms() - began;
        longest = took > longest ? took : longest;
        if (result != CUDA_SUCCESS) {
            printf("error: %d\n", (int)result);
            return 1;
        }
        if (asked) {
            printf("rounds: %ld right, %ld wrong, longest %.1f ms\n", right, wrong, longest);
            fflush(stdout);
            right = wrong = 0;
            longest = 0;
        }
        usleep(500);
    }
}
