#include "direct/chunks/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "direct/chunks/chunks.h"
#include "direct/memory/memory_export.h"
#include "direct/chunks/move_trace.h"
#include "driver/own_descriptor.h"
#include "session/report.h"
#include "tessera_abi.h"
#include "tessera_entries.h"

/* Room for some 16 pieces (1 GiB): the kernel doubles this value, and charges at least 768 bytes for a packet. */
#define QUEUE_BYTES 6144
/*
 * Memory that was taken keeps its descriptor, because the driver does not export imported memory again. Descriptors are
 * bounded by this part of RLIMIT_NOFILE, and by the number below, which is enough for 1 TiB.
 */
#define DESCRIPTOR_PARTS 4
#define DESCRIPTORS 16384
#define WORD_BITS 64

static struct queue {
    int ends[TESSERA_EXCHANGE_ENDS]; /* the descriptor + 1; 0: none */
} queues[TESSERA_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* One bit for each descriptor of a chunk. The child of a fork closes them, so that it does not keep the memory. */
static uint64_t held[DESCRIPTORS / WORD_BITS];

static void close_end(struct queue *queue, unsigned end)
{
    if (queue->ends[end])
        close(queue->ends[end] - 1);
    queue->ends[end] = 0;
}

void exchange_adopt(unsigned device, unsigned end, int descriptor)
{
    int bytes = QUEUE_BYTES;
    if (end == TESSERA_EXCHANGE_GIVE && setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) != 0)
        report_error(errno, "the queue for handed memory could not be bounded");
    pthread_mutex_lock(&lock);
    close_end(&queues[device], end);
    __atomic_store_n(&queues[device].ends[end], descriptor + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void exchange_disconnected(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned device = 0; device < TESSERA_MAX_DEVICES; device++)
        for (unsigned end = 0; end < TESSERA_EXCHANGE_ENDS; end++)
            close_end(&queues[device], end);
    pthread_mutex_unlock(&lock);
}

bool exchange_open(unsigned device)
{
    const struct queue *queue = &queues[device];
    return __atomic_load_n(&queue->ends[TESSERA_EXCHANGE_GIVE], __ATOMIC_RELAXED) &&
           __atomic_load_n(&queue->ends[TESSERA_EXCHANGE_TAKE], __ATOMIC_RELAXED);
}

/*
 * Whether the chunk's memory can be exchanged: ordinary, movable, of the common size, with its contents off the device.
 */
static bool is_common(const struct chunk *chunk)
{
    return !chunk->properties && !chunk->fixed && chunk->away && chunk->bytes == residency_chunk_size(chunk->device);
}

static bool send_piece(unsigned device, uint64_t bytes, int descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
    struct iovec data = {&bytes, sizeof bytes};
    struct msghdr packet = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    pthread_mutex_lock(&lock);
    int queue = queues[device].ends[TESSERA_EXCHANGE_GIVE] - 1;
    bool sent = queue >= 0 && sendmsg(queue, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof bytes;
    pthread_mutex_unlock(&lock);
    return sent;
}

int exchange_descriptor(const struct chunk *chunk)
{
    int descriptor = chunk->descriptor;
    if (!is_common(chunk) || !chunk->shareable || !exchange_open(chunk->device))
        return -1;
    if (descriptor < 0 &&
        REAL(cuMemExportToShareableHandle)(&descriptor, chunk->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) !=
            CUDA_SUCCESS)
        return -1;
    if (chunk->descriptor < 0)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC); /* a failure is harmless: the descriptor is closed soon */
    return descriptor;
}

void exchange_give(struct chunk *chunk, int descriptor, bool released)
{
    if (released && descriptor >= 0 && send_piece(chunk->device, chunk->bytes, descriptor))
        move_trace(chunk->device, "given", chunk, chunk->bytes);
    if (descriptor >= 0 && descriptor != chunk->descriptor)
        close(descriptor);
    if (released)
        exchange_forget(chunk);
}

/* Receives the next piece: its size, and its descriptor, which the caller closes; -1: the queue is empty. */
static int receive_piece(unsigned device, uint64_t *bytes)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {bytes, sizeof *bytes};
    struct msghdr packet = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_LEN(sizeof(int))};
    pthread_mutex_lock(&lock);
    int queue = queues[device].ends[TESSERA_EXCHANGE_TAKE] - 1;
    ssize_t size = queue < 0 ? -1 : recvmsg(queue, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    pthread_mutex_unlock(&lock);
    int descriptor = -1;
    struct cmsghdr *head = size >= 0 ? CMSG_FIRSTHDR(&packet) : NULL; /* an empty packet can carry a descriptor, too */
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    descriptor = own_descriptor(descriptor);
    if (size != (ssize_t)sizeof *bytes)
        *bytes = 0;
    return descriptor;
}

/* Whether the process can keep this descriptor. Its number, the lowest free one, shows how many are open. */
static bool affordable(int descriptor)
{
    struct rlimit most;
    return descriptor < DESCRIPTORS && getrlimit(RLIMIT_NOFILE, &most) == 0 &&
           (rlim_t)descriptor < most.rlim_cur / DESCRIPTOR_PARTS;
}

bool exchange_take(struct chunk *chunk)
{
    if (!is_common(chunk) || chunk->arena || !exchange_open(chunk->device))
        return false;
    uint64_t bytes;
    int descriptor = receive_piece(chunk->device, &bytes);
    if (descriptor < 0)
        return false;
    unsigned long long handle = 0;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (bytes == chunk->bytes && affordable(descriptor)) {
        memory_takes_pieces();
        result = REAL(cuMemImportFromShareableHandle)((void *)&handle, (void *)(intptr_t)descriptor,
                                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    }
    if (result != CUDA_SUCCESS) { /* closing it returns the memory to the driver */
        close(descriptor);
        return false;
    }
    __atomic_fetch_or(&held[descriptor / WORD_BITS], 1ULL << descriptor % WORD_BITS, __ATOMIC_RELAXED);
    chunk->handle = handle;
    chunk->descriptor = descriptor;
    chunk->shareable = true;
    move_trace(chunk->device, "taken", chunk, chunk->bytes);
    return true;
}

void exchange_forget(struct chunk *chunk)
{
    int descriptor = chunk->descriptor;
    if (descriptor < 0)
        return;
    chunk->descriptor = -1;
    __atomic_fetch_and(&held[descriptor / WORD_BITS], ~(1ULL << descriptor % WORD_BITS), __ATOMIC_RELAXED);
    close(descriptor);
}

bool exchange_drop(unsigned device)
{
    uint64_t bytes;
    int descriptor = exchange_open(device) ? receive_piece(device, &bytes) : -1;
    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

void exchange_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    exchange_disconnected();
    for (int word = 0; word < DESCRIPTORS / WORD_BITS; word++)
        for (; held[word]; held[word] &= held[word] - 1)
            close(word * WORD_BITS + __builtin_ctzll(held[word]));
}
