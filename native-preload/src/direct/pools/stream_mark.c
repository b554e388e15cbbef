#include "direct/pools/stream_mark.h"

#include <pthread.h>

#include "direct/turns/capture.h"
#include "direct/turns/gate.h"

#define KEPT_EVENTS 1024 /* of some kilobytes each; events beyond this number are destroyed and created again */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    CUcontext context;
    CUevent event;
} kept[KEPT_EVENTS];
static unsigned kept_count;

struct capture_mode capture_mode_relax(void)
{
    struct capture_mode mode = {CU_STREAM_CAPTURE_MODE_RELAXED, false};
    if (capture_open_any())
        mode.changed = REAL(cuThreadExchangeStreamCaptureMode)(&mode.before) == CUDA_SUCCESS;
    return mode;
}

void capture_mode_restore(struct capture_mode mode)
{
    if (mode.changed)
        REAL(cuThreadExchangeStreamCaptureMode)(&mode.before);
}

/* A number, not the thread id: ids are reused, while work of an ended thread's stream may still run. */
static uint64_t this_thread(void)
{
    static uint64_t threads;
    static __thread uint64_t number __attribute__((tls_model("initial-exec")));
    if (!number)
        number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return number;
}

CUresult stream_identify(CUstream stream, uintptr_t otherwise, struct stream_identity *identity)
{
    *identity = (struct stream_identity){.handle = gate_stream(stream, otherwise)};
    if (identity->handle > TESSERA_STREAM_PER_THREAD)
        return REAL(cuStreamGetCtx)(stream, &identity->context);
    if (identity->handle == TESSERA_STREAM_PER_THREAD)
        identity->thread = this_thread();
    CUresult result = REAL(cuCtxGetCurrent)(&identity->context);
    return result == CUDA_SUCCESS && !identity->context ? CUDA_ERROR_INVALID_CONTEXT : result;
}

static CUevent kept_event(CUcontext context)
{
    CUevent event = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = kept_count; i > 0 && !event; i--)
        if (kept[i - 1].context == context) {
            event = kept[i - 1].event;
            kept[i - 1] = kept[--kept_count];
        }
    pthread_mutex_unlock(&lock);
    return event;
}

/* A kept event of the context, or a new one; NULL: the driver refuses. */
static CUevent new_event(CUcontext context)
{
    CUcontext current = NULL, popped;
    CUevent event = NULL;
    struct capture_mode mode = capture_mode_relax();
    bool push = REAL(cuCtxGetCurrent)(&current) != CUDA_SUCCESS || current != context;
    bool entered = !push || REAL(cuCtxPushCurrent_v2)(context) == CUDA_SUCCESS;
    if (entered && REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        event = NULL;
    if (entered && push)
        REAL(cuCtxPopCurrent_v2)(&popped);
    capture_mode_restore(mode);
    return event;
}

static void keep(CUcontext context, CUevent event)
{
    pthread_mutex_lock(&lock);
    bool room = kept_count < KEPT_EVENTS;
    if (room) {
        kept[kept_count].context = context;
        kept[kept_count++].event = event;
    }
    pthread_mutex_unlock(&lock);
    if (!room)
        REAL(cuEventDestroy_v2)(event);
}

CUresult stream_mark_take(struct stream_identity stream, struct stream_mark *mark)
{
    *mark = (struct stream_mark){.stream = stream};
    CUevent event = kept_event(stream.context);
    if (!event)
        event = new_event(stream.context);
    if (!event)
        return CUDA_SUCCESS;
    CUresult result = REAL(cuEventRecord)(event, (CUstream)stream.handle);
    if (result == CUDA_SUCCESS)
        mark->event = event;
    else
        keep(stream.context, event);
    return result;
}

bool stream_mark_reached(struct stream_mark *mark)
{
    if (!mark->reached && mark->event && REAL(cuEventQuery)(mark->event) == CUDA_SUCCESS)
        mark->reached = true;
    if (mark->reached)
        stream_mark_drop(mark);
    return mark->reached;
}

CUresult stream_mark_follow(const struct stream_mark *mark, struct stream_identity stream)
{
    return REAL(cuStreamWaitEvent)((CUstream)stream.handle, mark->event, 0);
}

void stream_mark_drop(struct stream_mark *mark)
{
    if (mark->event)
        keep(mark->stream.context, mark->event);
    mark->event = NULL;
}

void stream_marks_context_ended(const void *context)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < kept_count;)
        if (kept[i].context == context)
            kept[i] = kept[--kept_count];
        else
            i++;
    pthread_mutex_unlock(&lock);
}

void stream_marks_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    kept_count = 0;
}
