/*
 * A driver that is as late as a driver may be: copies, memsets and launches run only when somebody learns that they are
 * complete. So a test notices memory that is used, unmapped or given up too early. Strangers (other clients) also hand
 * memory over, which is full of their contents.
 */
#ifndef TESSERA_LATE_DRIVER_H
#define TESSERA_LATE_DRIVER_H

#include <pthread.h>
#include <sys/socket.h>

#include "../../tests/scripted-driver/src/modules/content_kernel.h"
#include "direct/chunks/exchange.h"
#include "scripted_driver.h"
#include "tessera_abi.h"

#define LATE_WORK 4096
#define STRANGE 0x5a /* each byte of what others hand over; the program writes no such page */

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;
static struct late_work {
    CUstream stream;
    void *to;         /* NULL: a launch */
    const void *from; /* NULL: zeros */
    size_t bytes;
    CUfunction function;
    unsigned blocks;
    uint64_t arguments[2];
} late[LATE_WORK];
static unsigned late_count;
static _Atomic unsigned late_asked; /* queries of reached events */
static int strange_give;            /* the strangers' copy of the queue's end */

/* 0 if the stream's context works, else its error. */
static CUresult late_state(CUstream stream)
{
    CUresult result = DRIVER(cuStreamQuery)(stream);
    return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
}

static CUresult late_add(unsigned entry, struct late_work work)
{
    CHECK(work.stream);
    CUresult result = driver_inject(entry);
    if (result == CUDA_SUCCESS)
        result = late_state(work.stream);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&late_lock);
    CHECK(late_count < LATE_WORK);
    late[late_count++] = work;
    pthread_mutex_unlock(&late_lock);
    return CUDA_SUCCESS;
}

static void late_run(const struct late_work *w)
{
    void *arguments[] = {(void *)&w->arguments[0], (void *)&w->arguments[1]};
    if (late_state(w->stream) == DRIVER_FAULT)
        return;
    if (w->to && w->from)
        memcpy(w->to, w->from, w->bytes);
    else if (w->to)
        memset(w->to, 0, w->bytes);
    else
        CHECK(DRIVER(cuLaunchKernel)(w->function, w->blocks, 1, 1, CONTENT_THREADS, 1, 1, 0, w->stream, arguments,
                                     NULL) == CUDA_SUCCESS &&
              DRIVER(cuStreamSynchronize)(w->stream) == CUDA_SUCCESS);
}

static void late_end(void)
{
    pthread_mutex_lock(&late_lock);
    for (unsigned i = 0; i < late_count; i++)
        late_run(&late[i]);
    late_count = 0;
    pthread_mutex_unlock(&late_lock);
}

static CUresult late_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return late_add(ENTRY_cuMemcpyDtoHAsync_v2,
                    (struct late_work){stream, .to = to, .from = (const void *)(uintptr_t)from, .bytes = bytes});
}

static CUresult late_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return late_add(ENTRY_cuMemcpyHtoDAsync_v2,
                    (struct late_work){stream, .to = (void *)(uintptr_t)to, .from = from, .bytes = bytes});
}

static CUresult late_cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    CHECK(value == 0);
    return late_add(ENTRY_cuMemsetD32Async,
                    (struct late_work){stream, .to = (void *)(uintptr_t)to, .bytes = count * sizeof value});
}

static CUresult late_cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads,
                                    unsigned rows, unsigned layers, unsigned shared, CUstream stream, void **arguments,
                                    void **extra)
{
    CHECK(function && y == 1 && z == 1 && threads == CONTENT_THREADS && rows == 1 && layers == 1 && !shared && !extra);
    struct late_work work = {stream, .function = function, .blocks = x};
    for (int i = 0; i < 2; i++)
        work.arguments[i] = *(const uint64_t *)arguments[i];
    return late_add(ENTRY_cuLaunchKernel, work);
}

/* Two of three times an event that is reached is reported as not reached. */
static CUresult late_cuEventQuery(CUevent event)
{
    CUresult result = INJECTED(cuEventQuery)(event);
    if (result == CUDA_SUCCESS && late_asked++ % 3 < 2)
        return CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS)
        late_end();
    return result;
}

static CUresult late_cuEventSynchronize(CUevent event)
{
    CUresult result = INJECTED(cuEventSynchronize)(event);
    late_end();
    return result;
}

static CUresult late_cuStreamSynchronize(CUstream stream)
{
    CUresult result = INJECTED(cuStreamSynchronize)(stream);
    late_end();
    return result;
}

/* Instead of driver_load(). */
static void late_driver(void)
{
    driver_load();
    HOOK(cuMemcpyDtoHAsync_v2, late_cuMemcpyDtoHAsync_v2);
    HOOK(cuMemcpyHtoDAsync_v2, late_cuMemcpyHtoDAsync_v2);
    HOOK(cuMemsetD32Async, late_cuMemsetD32Async);
    HOOK(cuLaunchKernel, late_cuLaunchKernel);
    HOOK(cuEventQuery, late_cuEventQuery);
    HOOK(cuEventSynchronize, late_cuEventSynchronize);
    HOOK(cuStreamSynchronize, late_cuStreamSynchronize);
}

/* Makes a queue for the first device, into which strangers put memory. */
static void strangers_come(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    strange_give = dup(ends[0]);
    CHECK(strange_give >= 0);
    exchange_adopt(0, TESSERA_EXCHANGE_GIVE, ends[0]);
    exchange_adopt(0, TESSERA_EXCHANGE_TAKE, ends[1]);
}

/* A stranger's memory, as a descriptor; nobody else holds that memory any more. -1: the device is full. */
static int strange_memory(uint64_t bytes)
{
    static const struct driver_allocation_properties exportable = {
        .type = 1, .requested_handle_types = 1, .location = {.type = 1}};
    static const struct driver_access access = {.location = {.type = 1}, .flags = 3};
    unsigned long long handle;
    CUdeviceptr at;
    int file;
    CUresult result = DRIVER(cuMemCreate)(&handle, bytes, &exportable, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return -1;
    CHECK(result == CUDA_SUCCESS && DRIVER(cuMemAddressReserve)(&at, bytes, 0, 0, 0) == CUDA_SUCCESS);
    CHECK(DRIVER(cuMemMap)(at, bytes, 0, handle, 0) == CUDA_SUCCESS);
    CHECK(DRIVER(cuMemSetAccess)(at, bytes, &access, 1) == CUDA_SUCCESS);
    memset((void *)(uintptr_t)at, STRANGE, bytes);
    CHECK(DRIVER(cuMemExportToShareableHandle)(&file, handle, 1, 0) == CUDA_SUCCESS);
    CHECK(DRIVER(cuMemUnmap)(at, bytes) == CUDA_SUCCESS && DRIVER(cuMemAddressFree)(at, bytes) == CUDA_SUCCESS);
    CHECK(DRIVER(cuMemRelease)(handle) == CUDA_SUCCESS);
    return file;
}

/* A stranger hands a piece over. False: the device or the queue has no room. */
static bool stranger_gives(uint64_t bytes)
{
    int file = strange_memory(bytes);
    if (file < 0)
        return false;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    struct iovec data = {&bytes, sizeof bytes};
    struct msghdr packet = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    bool sent = sendmsg(strange_give, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
    close(file);
    return sent;
}

#endif
