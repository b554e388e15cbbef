#include "direct/ipc/export.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/ipc/exportable.h"
#include "direct/ipc/server.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

/* An allocation that has a handle. It was freed if the allocation at its address has another id. */
struct share {
    struct share *next;
    CUdeviceptr base;
    uint64_t id;
    uint64_t bytes; /* as asked for */
    uint8_t secret[sizeof((struct ipc_handle *)NULL)->secret];
};

static struct record_pool records = {.bytes = sizeof(struct share)};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct share *shares;

static bool is_gone(const struct share *share)
{
    struct swap_range range;
    return !swap_find(share->base, &range) || range.id != share->id;
}

/* With the lock: deletes shares whose allocation was freed. */
static void sweep(void)
{
    struct share **at = &shares;
    while (*at) {
        struct share *share = *at;
        if (is_gone(share)) {
            *at = share->next;
            record_give(&records, share);
        } else {
            at = &share->next;
        }
    }
}

/* With the lock: the allocation's share, a new one if it has none; NULL: no memory, or no random numbers. */
static struct share *share_of(const struct swap_range *range)
{
    struct share *share = shares;
    while (share && share->id != range->id)
        share = share->next;
    if (share)
        return share;
    sweep();
    share = record_take(&records);
    if (!share)
        return NULL;
    share->base = range->base;
    share->id = range->id;
    share->bytes = range->bytes;
    if (getrandom(share->secret, sizeof share->secret, 0) != (ssize_t)sizeof share->secret) {
        record_give(&records, share);
        return NULL;
    }
    share->next = shares;
    shares = share;
    return share;
}

bool ipc_exported_here(const struct ipc_handle *handle)
{
    return handle->pid == (uint32_t)getpid() && ipc_server_is(handle);
}

/* Copies the share that the handle names; false: none has its id and secret. Compares secrets in constant time. */
static bool find_share(const struct ipc_handle *handle, struct share *found)
{
    pthread_mutex_lock(&lock);
    const struct share *share = shares;
    while (share && share->id != handle->id)
        share = share->next;
    if (share)
        *found = *share;
    pthread_mutex_unlock(&lock);
    unsigned differs = share == NULL;
    for (size_t i = 0; share && i < sizeof found->secret; i++)
        differs |= found->secret[i] ^ handle->secret[i];
    return differs == 0;
}

/* Makes descriptors of the chunks from `first` on, at most IPC_BATCH. */
static CUresult give_chunks(const struct share *share, uint32_t first, struct ipc_answer *answer, int *descriptors)
{
    CUresult result = CUDA_SUCCESS;
    while (result == CUDA_SUCCESS && answer->sent < IPC_BATCH && first + answer->sent < answer->chunks) {
        uint32_t i = answer->sent;
        result = exportable_descriptor(share->base, share->id, first + i, &descriptors[i], &answer->chunk_bytes[i]);
        answer->sent += result == CUDA_SUCCESS;
    }
    return result;
}

/* Answers a request, on the server's thread. */
static void answer_request(const struct ipc_request *request, struct ipc_answer *answer, int descriptors[IPC_BATCH])
{
    struct share share;
    struct exportable_shape shape;
    *answer = (struct ipc_answer){.magic = IPC_MAGIC, .status = CUDA_ERROR_INVALID_HANDLE};
    if (!ipc_exported_here(&request->handle) || !find_share(&request->handle, &share)) {
        report_error(CUDA_ERROR_INVALID_HANDLE, "another process showed an IPC handle that this one did not make");
        return;
    }
    if (!exportable_shape(share.base, share.id, &shape) || request->first >= shape.chunks)
        return; /* it was freed meanwhile */
    answer->chunks = shape.chunks;
    answer->bytes = shape.bytes;
    answer->offset = shape.offset;
    answer->allocation_bytes = share.bytes;
    memcpy(answer->device, segment_get()->devices[shape.device].uuid, sizeof answer->device);
    void *context = devices_enter(shape.device); /* NVIDIA documents no need for a current context; it does no harm */
    answer->status = give_chunks(&share, request->first, answer, descriptors);
    if (context)
        devices_leave(context);
    if (answer->status == CUDA_ERROR_INVALID_VALUE || answer->status == CUDA_ERROR_DEINITIALIZED)
        answer->status = CUDA_ERROR_INVALID_HANDLE; /* it was just freed, or this process is ending */
}

CUresult ipc_export(const struct swap_range *range, struct ipc_handle *handle)
{
    struct ipc_handle made;
    CUresult result = exportable_make(range->base, range->id, monotonic_ns() + settings()->memory_wait_ns);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        report_line(
            "GPU memory could not be exported (CUDA IPC): the program's work, a capture, or others' memory stood in "
            "the way for too long");
    if (result != CUDA_SUCCESS)
        return result;
    if (!ipc_server_start(&made, answer_request))
        return CUDA_ERROR_OPERATING_SYSTEM;
    pthread_mutex_lock(&lock);
    const struct share *share = share_of(range);
    if (share) {
        made.id = share->id;
        memcpy(made.secret, share->secret, sizeof made.secret);
    }
    pthread_mutex_unlock(&lock);
    if (!share)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(handle, &made, sizeof made); /* the program's structure may not be aligned */
    return CUDA_SUCCESS;
}

void ipc_export_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    shares = NULL;
    ipc_server_forked();
}
