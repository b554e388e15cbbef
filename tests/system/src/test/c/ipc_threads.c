/*
 * Threads that open and close the same few allocations of another process at once, and a context that ends with what was
 * opened in it.
 *     ipc_threads [SEED]
 * The exporter is a child, forked before CUDA is used. Ends with "done OPENS"; the first wrong word ends it with 1.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "console_ipc.h"
#include "cuda_calls.h"

enum { SHARED = 3, THREADS = 4, ROUNDS = 150, BYTES = 5 << 20 };
/* The manager's connection, and both ends of the queue for handed memory: the two processes are clients of plan swap. */
enum { SOCKETS = 3, PATIENCE_MS = 20000 };

static CUipcMemHandle handles[SHARED];
static void *context;
static unsigned long seed = 1, opens;

static void begin(void)
{
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
}

/* Until the other end of `until` is closed. */
static int export_all(int to, int until)
{
    char byte;
    begin();
    for (int i = 0; i < SHARED; i++) {
        CUdeviceptr p;
        CUipcMemHandle handle;
        OKAY(cuMemAlloc_v2(&p, i == 0 ? 5000 : BYTES));
        OKAY(cuMemsetD32_v2(p, 100u + (unsigned)i, 1250));
        OKAY(cuCtxSynchronize());
        OKAY(cuIpcGetMemHandle(&handle, p));
        CHECK(write(to, &handle, sizeof handle) == (ssize_t)sizeof handle);
    }
    return read(until, &byte, 1) == 0 ? 0 : 1;
}

static void *open_and_close(void *argument)
{
    uint64_t random = (seed * 0x9e3779b97f4a7c15ULL + (uintptr_t)argument) | 1;
    OKAY(cuCtxSetCurrent(context));
    for (int round = 0; round < ROUNDS; round++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        unsigned i = (unsigned)(random % SHARED), word = 0;
        CUdeviceptr first, second, base = 0;
        size_t bytes = 0;
        OKAY(cuIpcOpenMemHandle_v2(&first, handles[i], 1));
        OKAY(cuIpcOpenMemHandle_v2(&second, handles[i], 1));
        CHECK(first == second); /* it is open meanwhile */
        OKAY(cuIpcCloseMemHandle(second));
        OKAY(cuMemcpyDtoH_v2(&word, first + 4996, 4));
        EQUAL(100 + i, word);
        OKAY(cuMemGetAddressRange_v2(&base, &bytes, first + 4999));
        CHECK(base == first && bytes == (i == 0 ? 5000u : (size_t)BYTES));
        OKAY(cuIpcCloseMemHandle(first));
        __atomic_fetch_add(&opens, 2, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void end_with_a_context(void)
{
    void *own;
    CUdeviceptr p, q;
    OKAY(cuCtxCreate_v2(&own, 0, 0));
    OKAY(cuIpcOpenMemHandle_v2(&p, handles[1], 1));
    OKAY(cuIpcOpenMemHandle_v2(&q, handles[2], 1));
    CHECK(driver_mappings() > 0);
    OKAY(cuCtxDestroy_v2(own));
    EQUAL(0, driver_mappings());
    OKAY(cuCtxSetCurrent(context));
    CHECK(cuIpcCloseMemHandle(p) != 0);
    OKAY(cuIpcOpenMemHandle_v2(&q, handles[2], 1));
    OKAY(cuIpcCloseMemHandle(q));
}

/* The manager hands out the queue's ends some time after it has seen the second client. */
static void await_sockets(void)
{
    for (int waited_ms = 0; open_sockets() < SOCKETS; waited_ms++) {
        CHECK(waited_ms < PATIENCE_MS);
        usleep(1000);
    }
    EQUAL(SOCKETS, open_sockets());
}

/* The driver opens files of its own at the first one. */
static void open_once(void)
{
    CUdeviceptr p;
    OKAY(cuIpcOpenMemHandle_v2(&p, handles[0], 1));
    OKAY(cuIpcCloseMemHandle(p));
}

int main(int argc, char **argv)
{
    int from[2], until[2], status = -1;
    pthread_t threads[THREADS];
    if (argc > 1)
        seed = strtoul(argv[1], NULL, 10);
    CHECK(pipe(from) == 0 && pipe(until) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(until[1]);
        return export_all(from[1], until[0]);
    }
    begin();
    for (int i = 0; i < SHARED; i++)
        CHECK(read(from[0], &handles[i], sizeof handles[i]) == (ssize_t)sizeof handles[i]);
    await_sockets();
    open_once();
    int files = open_files();
    for (uintptr_t i = 0; i < THREADS; i++)
        EQUAL(0, pthread_create(&threads[i], NULL, open_and_close, (void *)(i + 1)));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EQUAL(0, driver_mappings());
    end_with_a_context();
    EQUAL(0, driver_mappings());
    EQUAL(files, open_files());
    close(until[1]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    printf("done %lu\n", opens);
    return 0;
}
