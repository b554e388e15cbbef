/*
 * The fake driver as late as a driver may be: copies, sets and launches are carried out when somebody is told that they are
 * complete, and not before. So memory that is used, unmapped or given up too early is noticed. Also memory that others hand over,
 * which is full of what is theirs.
 */
#ifndef TESSERA_LATE_DRIVER_H
#define TESSERA_LATE_DRIVER_H

#include <sys/socket.h>
#include <sys/stat.h>

#include "direct/chunks/exchange.h"
#include "fake_driver.h"
#include "tessera_abi.h"

#define LATE_WORK 4096
#define STRANGE 0x5a /* each byte of what others hand over; the program writes no such page */

/* Guarded by the fake driver's lock. */
static struct late_work {
    void *to;         /* of a kernel: NULL */
    const void *from; /* NULL: zeros; of a kernel: its parts */
    size_t bytes;     /* of a kernel: its blocks */
    uint64_t *results;
} late[LATE_WORK];
static unsigned late_count;
static int strange_give; /* the strangers' own copy of the end */

/* With the lock. */
static void late_add(struct late_work work)
{
    CHECK(late_count < LATE_WORK);
    late[late_count++] = work;
}

static void late_end(void)
{
    pthread_mutex_lock(&fake.lock);
    for (unsigned i = 0; i < late_count; i++) {
        struct late_work *w = &late[i];
        if (w->to && w->from)
            memcpy(w->to, w->from, w->bytes);
        else if (w->to)
            memset(w->to, 0, w->bytes);
        for (unsigned block = 0; !w->to && block < w->bytes; block++)
            if (((const uint64_t *)w->from)[block])
                content_block((const uint32_t *)(uintptr_t)((const uint64_t *)w->from)[block],
                              w->results + block * (CONTENT_LINES + 1));
    }
    late_count = 0;
    pthread_mutex_unlock(&fake.lock);
}

static CUresult late_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    FAKE_CALL;
    CHECK(stream);
    late_add((struct late_work){.to = to, .from = (const void *)(uintptr_t)from, .bytes = bytes});
    return fake_leave(CUDA_SUCCESS);
}

static CUresult late_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    FAKE_CALL;
    CHECK(stream);
    late_add((struct late_work){.to = (void *)(uintptr_t)to, .from = from, .bytes = bytes});
    return fake_leave(CUDA_SUCCESS);
}

static CUresult late_cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    FAKE_CALL;
    CHECK(stream && value == 0);
    late_add((struct late_work){.to = (void *)(uintptr_t)to, .bytes = count * sizeof value});
    return fake_leave(CUDA_SUCCESS);
}

static CUresult late_cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads,
                                    unsigned rows, unsigned layers, unsigned shared, CUstream stream, void **arguments,
                                    void **extra)
{
    FAKE_CALL;
    CHECK(function && y == 1 && z == 1 && threads == CONTENT_THREADS && rows == 1 && layers == 1 && !shared && stream &&
          !extra);
    late_add((struct late_work){.from = *(const void **)arguments[0], .bytes = x, .results = *(uint64_t **)arguments[1]});
    return fake_leave(CUDA_SUCCESS);
}

static CUresult late_cuEventQuery(CUevent event)
{
    CUresult result = fake_cuEventQuery(event);
    if (result == CUDA_SUCCESS)
        late_end();
    return result;
}

static CUresult late_cuEventSynchronize(CUevent event)
{
    CUresult result = fake_cuEventSynchronize(event);
    late_end();
    return result;
}

static CUresult late_cuStreamSynchronize(CUstream stream)
{
    CUresult result = fake_of_stream(stream);
    late_end();
    return result;
}

static CUresult late_cuMemExportToShareableHandle(void *descriptor, unsigned long long handle, int type,
                                                  unsigned long long flags)
{
    FAKE_CALL;
    unsigned i = (unsigned)handle - 1;
    CHECK(i < FAKE_OBJECTS && fake.memory[i].file && !fake.memory[i].released && flags == 0 && type);
    int copy = dup(fake.memory[i].file - 1);
    CHECK(copy >= 0);
    memcpy(descriptor, &copy, sizeof copy);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult late_cuMemImportFromShareableHandle(void *handle, void *descriptor, int type)
{
    FAKE_CALL;
    struct stat about;
    CHECK(fstat((int)(intptr_t)descriptor, &about) == 0 && about.st_size % (off_t)FAKE_UNIT == 0 && type);
    if (fake.held + (uint64_t)about.st_size > FAKE_MEMORY)
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    unsigned i = fake_free_slot(fake.memory, sizeof *fake.memory, sizeof(int));
    fake.memory[i].file = dup((int)(intptr_t)descriptor) + 1;
    CHECK(fake.memory[i].file > 0);
    fake.memory[i].bytes = (uint64_t)about.st_size;
    fake.memory[i].released = false;
    fake.memory[i].mapped = 0;
    fake.held += fake.memory[i].bytes;
    *(unsigned long long *)handle = i + 1;
    return fake_leave(CUDA_SUCCESS);
}

/* Instead of fake_driver(). */
static void late_driver(void)
{
    fake_driver();
    FAKE(cuMemcpyDtoHAsync_v2, late_cuMemcpyDtoHAsync_v2);
    FAKE(cuMemcpyHtoDAsync_v2, late_cuMemcpyHtoDAsync_v2);
    FAKE(cuMemsetD32Async, late_cuMemsetD32Async);
    FAKE(cuLaunchKernel, late_cuLaunchKernel);
    FAKE(cuEventQuery, late_cuEventQuery);
    FAKE(cuEventSynchronize, late_cuEventSynchronize);
    FAKE(cuStreamSynchronize, late_cuStreamSynchronize);
    FAKE(cuMemExportToShareableHandle, late_cuMemExportToShareableHandle);
    FAKE(cuMemImportFromShareableHandle, late_cuMemImportFromShareableHandle);
}

/* A queue of the first device, in which strangers put memory. */
static void strangers_come(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    strange_give = dup(ends[0]);
    CHECK(strange_give >= 0);
    exchange_adopt(0, TESSERA_EXCHANGE_GIVE, ends[0]);
    exchange_adopt(0, TESSERA_EXCHANGE_TAKE, ends[1]);
}

/* A stranger hands a piece over, if the queue has room. */
static void stranger_gives(uint64_t bytes)
{
    int file = memfd_create("strange", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED);
    memset(memory, STRANGE, bytes);
    munmap(memory, bytes);
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    struct iovec data = {&bytes, sizeof bytes};
    struct msghdr packet = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    (void)!sendmsg(strange_give, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(file);
}

#endif
