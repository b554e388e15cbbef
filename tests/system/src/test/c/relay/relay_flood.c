/*
 * Launches kernels, each of some time, and waits only for those of the batch before, until a line comes on stdin. So there is always work,
 * also where this program gets a processor late.
 *     relay_flood MICROSECONDS [PAUSE]
 * With a pause, of microseconds after each batch, there is no work at the end of the pause. Says "ready", and "launched COUNT" at the end, when
 * all are done. `status` reads the count of launches.
 */
#include <poll.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

/* The scripted driver knows the kernel by its name, and sleeps. The software GPU runs it as it is. */
#define WAITING_IMAGE                                                                                                  \
    ".version 8.0\n.target sm_50\n.address_size 64\n"                                                                  \
    ".visible .entry scripted_sleep_us(.param .u64 us)\n"                                                              \
    "{\n .reg .u64 %until, %now;\n .reg .pred %early;\n"                                                               \
    " ld.param.u64 %until, [us];\n mul.lo.u64 %until, %until, 1000;\n"                                                 \
    " mov.u64 %now, %globaltimer;\n add.u64 %until, %until, %now;\n"                                                   \
    "again:\n mov.u64 %now, %globaltimer;\n setp.lt.u64 %early, %now, %until;\n @%early bra again;\n ret;\n}\n"

enum { BATCH = 64 };

static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

int main(int argc, char **argv)
{
    void *context, *module, *kernel, *stream, *batch[2];
    CHECK(argc == 2 || argc == 3);
    uint64_t us = (uint64_t)atol(argv[1]);
    unsigned pause_us = argc == 3 ? (unsigned)atol(argv[2]) : 0;
    unsigned long launched = 0;
    void *parameters[] = {&us};
    alarm(240);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        OKAY(cuEventCreate(&batch[i], 0));
    OKAY(cuModuleLoadData(&module, WAITING_IMAGE));
    OKAY(cuModuleGetFunction(&kernel, module, "scripted_sleep_us"));
    printf("ready\n");
    fflush(stdout);
    for (int even = 0; !told_to_end(); even = !even) {
        for (int i = 0; i < BATCH; i++, launched++)
            OKAY(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        OKAY(cuEventRecord(batch[even], stream));
        OKAY(cuEventSynchronize(batch[!even]));
        usleep(pause_us);
    }
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuModuleUnload(module));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    printf("launched %lu\n", launched);
    return 0;
}
