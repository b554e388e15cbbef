#include "direct/swap/chunk_copier.h"

#include <pthread.h>
#include <string.h>

#include "direct/swap/bounce_buffers.h"
#include "direct/content/content_look.h"
#include "direct/turns/devices.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "tessera_entries.h"

/*
 * The bus is idle for some microseconds between two copies of one stream, which matters for small chunks. On an H200,
 * beside copies out, chunks of 8 MiB come in at 47.5 GB/s by one stream and at 50.1 GB/s by several; for chunks of 64
 * MiB there is no difference.
 */
#define STREAMS_IN 2
#define STREAMS (STREAMS_IN + 1)

static struct copier {
    void *entered;             /* the context that copier_open() made current */
    void *context;             /* of the streams and events; NULL: there are none */
    CUstream streams[STREAMS]; /* STREAMS_IN for copies in, used in turn; the last for copies out */
    CUevent events[COPIER_DEPTH];
    struct {
        struct chunk *chunk;
        bool out;
    } under_way[COPIER_DEPTH];
    unsigned begun, ended;
    bool failed;         /* a copy in `context` failed, so the context may have faulted */
    const void *faulted; /* the last context that was found faulted; no call in it succeeds any more */
    bool lost;
} movers[TESSERA_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void forget_streams(struct copier *m)
{
    memset(m->streams, 0, sizeof m->streams);
    memset(m->events, 0, sizeof m->events);
    m->context = NULL;
    m->failed = false;
}

static void drop_streams(struct copier *m)
{
    for (int i = 0; i < STREAMS; i++)
        if (m->streams[i])
            REAL(cuStreamDestroy_v2)(m->streams[i]);
    for (int i = 0; i < COPIER_DEPTH; i++)
        if (m->events[i])
            REAL(cuEventDestroy_v2)(m->events[i]);
    forget_streams(m);
}

static CUresult make_streams(struct copier *m)
{
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < STREAMS && result == CUDA_SUCCESS; i++)
        result = REAL(cuStreamCreate)(&m->streams[i], CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < COPIER_DEPTH && result == CUDA_SUCCESS; i++)
        result = REAL(cuEventCreate)(&m->events[i], CU_EVENT_DISABLE_TIMING);
    return result;
}

/* The lock serialises this with copier_context_closing(): streams of a context that has ended must not be used. */
static CUresult change_context(struct copier *m)
{
    pthread_mutex_lock(&lock);
    if (m->context)
        drop_streams(m);
    CUresult result = make_streams(m);
    if (result == CUDA_SUCCESS)
        m->context = m->entered;
    else
        drop_streams(m);
    pthread_mutex_unlock(&lock);
    return result;
}

/*
 * Whether a context cannot be used after this error (CUDA driver API, CUresult: "must be terminated and relaunched").
 */
static bool is_fault(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

/*
 * After an error: whether the context has faulted. The copier's own streams are synchronised to find out.
 * cuCtxSynchronize would destroy an open capture of the context (capture.h).
 */
static bool faulted(const struct copier *m)
{
    bool any = false;
    for (int i = 0; i < STREAMS; i++)
        any |= is_fault(REAL(cuStreamSynchronize)(m->streams[i]));
    return any;
}

static CUresult prepare(struct copier *m)
{
    if (m->context != m->entered)
        return change_context(m);
    bool fault = m->failed && faulted(m);
    m->failed = false;
    return fault ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

/* A fault ends one context. Contents are lost only when no context of the device is left that could use them. */
bool copier_open(unsigned device)
{
    struct copier *m = &movers[device];
    const void *before = NULL;
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    while ((m->entered = devices_enter_after(device, before))) {
        result = m->entered == m->faulted ? CUDA_ERROR_LAUNCH_FAILED : prepare(m);
        if (!is_fault(result))
            break;
        m->faulted = before = m->entered;
        devices_leave(m->entered);
    }
    m->lost = !m->entered && before;
    if (m->lost)
        m->entered = devices_enter(device); /* nothing will be copied */
    if (m->entered && (m->lost || result == CUDA_SUCCESS))
        return true;
    if (m->entered) {
        report_failure(result, "no streams to move memory with");
        devices_leave(m->entered);
    }
    return false;
}

void copier_close(unsigned device)
{
    devices_leave(movers[device].entered);
}

static CUstream stream_of(const struct copier *m, bool out)
{
    return m->streams[out ? STREAMS_IN : m->begun % STREAMS_IN];
}

/* Copies the part of a chunk that one piece of its backing holds. */
static CUresult copy_part(unsigned device, const struct backing_piece *piece, uint64_t offset, CUdeviceptr address,
                          uint64_t bytes, bool out)
{
    CUstream stream = stream_of(&movers[device], out);
    if (backing_tier(piece) != TIER_PINNED)
        return bounce_copy(device, piece, offset, address, bytes, out, stream);
    char *memory = backing_memory(piece) + offset;
    return out ? REAL(cuMemcpyDtoHAsync_v2)(memory, address, bytes, stream)
               : REAL(cuMemcpyHtoDAsync_v2)(address, memory, bytes, stream);
}

/* The next run of contents: of the arena, or the whole chunk if it has no arena. False: there is no more. */
static bool next_span(const struct chunk *chunk, uint64_t *from, uint64_t *bytes)
{
    if (!chunk->arena) {
        *bytes = chunk->bytes;
        return *from == 0;
    }
    residency_lock();
    bool found = arena_span(chunk->arena, from, bytes);
    residency_unlock();
    return found;
}

static CUresult copy_span(const struct chunk *chunk, CUdeviceptr base, uint64_t from, uint64_t bytes, bool out)
{
    uint64_t end = from + bytes;
    CUresult result = CUDA_SUCCESS;
    for (const struct backing_piece *p = chunk->backing; p && result == CUDA_SUCCESS; p = p->next) {
        uint64_t low = from > p->at ? from : p->at;
        uint64_t high = end < p->at + p->bytes ? end : p->at + p->bytes;
        if (low < high)
            result = copy_part(chunk->device, p, low - p->at, base + low, high - low, out);
    }
    return result;
}

/* Copies all that is allocated in the chunk. */
static CUresult copy_all(const struct chunk *chunk, CUdeviceptr base, bool out)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t from = 0, bytes = 0;
    while (result == CUDA_SUCCESS && next_span(chunk, &from, &bytes)) {
        result = copy_span(chunk, base, from, bytes, out);
        from += bytes;
    }
    return result;
}

static CUresult copy_parts(const struct chunk *chunk, CUdeviceptr base, unit_mask parts, bool out)
{
    CUresult result = CUDA_SUCCESS;
    unsigned first = 0, count = 0;
    for (; result == CUDA_SUCCESS && content_run(parts, &first, &count); first += count)
        result = copy_span(chunk, base, first * PART_BYTES, count * PART_BYTES, out);
    return result;
}

static CUresult clear_parts(CUdeviceptr base, unit_mask parts, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    unsigned first = 0, count = 0;
    for (; result == CUDA_SUCCESS && content_run(parts, &first, &count); first += count)
        result = REAL(cuMemsetD32Async)(base + first * PART_BYTES, 0, count * PART_BYTES / sizeof(uint32_t), stream);
    return result;
}

const void *copier_context(unsigned device)
{
    return movers[device].entered;
}

CUresult copier_begin(unsigned device, struct chunk *chunk, unit_mask parts, bool out)
{
    struct copier *m = &movers[device];
    CUdeviceptr base = chunk_address(chunk);
    CUresult result = base ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = chunk->content ? copy_parts(chunk, base, parts, out) : copy_all(chunk, base, out);
    if (result == CUDA_SUCCESS && chunk->content && !out)
        result = clear_parts(base, content_parts(chunk->bytes) & ~parts, stream_of(m, false));
    unsigned at = m->begun % COPIER_DEPTH;
    if (result == CUDA_SUCCESS)
        result = REAL(cuEventRecord)(m->events[at], stream_of(m, out));
    if (result == CUDA_SUCCESS) {
        m->under_way[at].chunk = chunk;
        m->under_way[at].out = out;
        m->begun++;
        return CUDA_SUCCESS;
    }
    m->failed = true;
    faulted(m); /* synchronises the streams, so that no part of the failed copy uses the memory any more */
    return result;
}

struct chunk *copier_ended(unsigned device, bool *out, CUresult *result)
{
    struct copier *m = &movers[device];
    if (m->ended == m->begun)
        return NULL;
    unsigned at = m->ended % COPIER_DEPTH;
    *result = REAL(cuEventQuery)(m->events[at]);
    if (*result == CUDA_ERROR_NOT_READY)
        return NULL;
    m->ended++;
    *out = m->under_way[at].out;
    if (*result != CUDA_SUCCESS) {
        m->failed = true;
        faulted(m);
    }
    return m->under_way[at].chunk;
}

bool copier_lost(unsigned device)
{
    return movers[device].lost;
}

void copier_context_closing(const void *context)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        if (movers[i].context == context)
            forget_streams(&movers[i]);
        if (movers[i].faulted == context)
            movers[i].faulted = NULL;
    }
    pthread_mutex_unlock(&lock);
    bounce_context_closing(context);
    look_context_closing(context);
}

void copier_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(movers, 0, sizeof movers);
    bounce_forked();
    look_forked();
}
