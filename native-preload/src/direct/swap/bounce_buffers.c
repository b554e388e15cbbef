#include "direct/swap/bounce_buffers.h"

#include <pthread.h>
#include <string.h>

#include "session/segment.h"

#define BUFFER_BYTES (8u << 20) /* enough for the full bus rate; small, so that copies of the two sides overlap */

static struct bounce {
    pthread_mutex_t lock; /* held during a copy; only a context that ends waits for it */
    char *buffers[2];
    CUevent events[2];
    CUcontext owner;
} bounces[TESSERA_MAX_DEVICES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare_locks(void)
{
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++)
        pthread_mutex_init(&bounces[i].lock, NULL);
}

static void drop(struct bounce *b)
{
    for (int i = 0; i < 2; i++) {
        if (b->buffers[i])
            REAL(cuMemFreeHost)(b->buffers[i]);
        if (b->events[i])
            REAL(cuEventDestroy_v2)(b->events[i]);
        b->buffers[i] = NULL;
        b->events[i] = NULL;
    }
    b->owner = NULL;
}

static CUresult prepare(struct bounce *b)
{
    CUcontext current = NULL;
    CUresult result = REAL(cuCtxGetCurrent)(&current);
    if (result != CUDA_SUCCESS || b->owner == current)
        return result;
    drop(b); /* the buffers of another context of the device */
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++) {
        result = REAL(cuMemHostAlloc)((void **)&b->buffers[i], BUFFER_BYTES, 0);
        if (result == CUDA_SUCCESS)
            result = REAL(cuEventCreate)(&b->events[i], CU_EVENT_DISABLE_TIMING);
    }
    if (result == CUDA_SUCCESS)
        b->owner = current;
    else
        drop(b);
    return result;
}

/* Copies between a buffer and the backing. */
static CUresult host_side(const struct backing_piece *piece, uint64_t offset, char *buffer, uint64_t bytes, bool out)
{
    char *memory = backing_memory(piece);
    if (memory && out)
        memcpy(memory + offset, buffer, bytes);
    else if (memory)
        memcpy(buffer, memory + offset, bytes);
    else if (!(out ? backing_write(piece, offset, buffer, bytes) : backing_read(piece, offset, buffer, bytes)))
        return CUDA_ERROR_OPERATING_SYSTEM;
    return CUDA_SUCCESS;
}

struct part {
    uint64_t at, bytes;
};

static struct part part_of(uint64_t bytes, uint64_t index)
{
    uint64_t at = index * BUFFER_BYTES;
    uint64_t left = bytes > at ? bytes - at : 0;
    return (struct part){at, left < BUFFER_BYTES ? left : BUFFER_BYTES};
}

static CUresult copy_out(const struct bounce *b, const struct backing_piece *piece, uint64_t offset,
                         CUdeviceptr address, uint64_t bytes, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    struct part before = {0, 0};
    for (uint64_t i = 0; result == CUDA_SUCCESS; i++) {
        struct part now = part_of(bytes, i);
        if (now.bytes) {
            result = REAL(cuMemcpyDtoHAsync_v2)(b->buffers[i & 1], address + now.at, now.bytes, stream);
            if (result == CUDA_SUCCESS)
                result = REAL(cuEventRecord)(b->events[i & 1], stream);
        }
        if (result == CUDA_SUCCESS && before.bytes)
            result = REAL(cuEventSynchronize)(b->events[~i & 1]);
        if (result == CUDA_SUCCESS && before.bytes)
            result = host_side(piece, offset + before.at, b->buffers[~i & 1], before.bytes, true);
        if (!now.bytes)
            break;
        before = now;
    }
    return result;
}

static CUresult copy_in(const struct bounce *b, const struct backing_piece *piece, uint64_t offset, CUdeviceptr address,
                        uint64_t bytes, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (uint64_t i = 0; result == CUDA_SUCCESS; i++) {
        struct part now = part_of(bytes, i);
        if (!now.bytes)
            break;
        if (i >= 2)
            result = REAL(cuEventSynchronize)(b->events[i & 1]);
        if (result == CUDA_SUCCESS)
            result = host_side(piece, offset + now.at, b->buffers[i & 1], now.bytes, false);
        if (result == CUDA_SUCCESS)
            result = REAL(cuMemcpyHtoDAsync_v2)(address + now.at, b->buffers[i & 1], now.bytes, stream);
        if (result == CUDA_SUCCESS)
            result = REAL(cuEventRecord)(b->events[i & 1], stream);
    }
    CUresult ended = REAL(cuStreamSynchronize)(stream); /* the next copy uses the buffers */
    return result == CUDA_SUCCESS ? ended : result;
}

CUresult bounce_copy(unsigned device, const struct backing_piece *piece, uint64_t offset, CUdeviceptr address,
                     uint64_t bytes, bool out, CUstream stream)
{
    struct bounce *b = &bounces[device];
    pthread_once(&once, prepare_locks);
    pthread_mutex_lock(&b->lock);
    CUresult result = prepare(b);
    if (result == CUDA_SUCCESS)
        result = out ? copy_out(b, piece, offset, address, bytes, stream)
                     : copy_in(b, piece, offset, address, bytes, stream);
    if (result != CUDA_SUCCESS)
        REAL(cuStreamSynchronize)(stream);
    pthread_mutex_unlock(&b->lock);
    return result;
}

void bounce_context_closing(const void *context)
{
    pthread_once(&once, prepare_locks);
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++) {
        struct bounce *b = &bounces[i];
        pthread_mutex_lock(&b->lock);
        if (b->owner == context) { /* its buffers and events end with it */
            memset(b->buffers, 0, sizeof b->buffers);
            memset(b->events, 0, sizeof b->events);
            b->owner = NULL;
        }
        pthread_mutex_unlock(&b->lock);
    }
}

void bounce_forked(void)
{
    memset(bounces, 0, sizeof bounces);
    prepare_locks();
}
