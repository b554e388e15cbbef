#include "relay/streams/stream_table.h"

#include <stdlib.h>
#include <string.h>

#include "relay/streams/capture.h"
#include "relay/streams/capture_state.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"
#include "session/hash_table.h"
#include "relay/wire/completion.h"

/* What each context has: its legacy stream, and the mark of all its streams. */
struct context_streams {
    struct stream legacy;
    struct mark all;
};

/* A thread's own stream in a context. */
struct own {
    struct own *next;
    struct stream *stream; /* NULL: the context has ended */
    const struct relay_context *context;
    unsigned generation;
};

static struct table streams = TABLE_INITIAL;
static uint64_t next_id = 1;
static void (*ending)(const struct stream *stream);
static __thread struct own *owned __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static bool exit_key_made;

static void fill(struct stream *stream, struct relay_context *context)
{
    memset(stream, 0, sizeof *stream);
    stream->context = context;
    stream->id = __atomic_fetch_add(&next_id, 1, __ATOMIC_RELAXED);
    stream->mark.word = -1;
    pthread_mutex_init(&stream->lock, NULL);
}

/* NULL: no memory. */
static struct context_streams *streams_of(struct relay_context *context)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct context_streams *known = __atomic_load_n(&context->streams, __ATOMIC_ACQUIRE);
    if (__builtin_expect(known != NULL, 1))
        return known;
    pthread_mutex_lock(&lock);
    known = context->streams;
    if (!known && (known = calloc(1, sizeof *known)) != NULL) {
        fill(&known->legacy, context);
        known->all.word = -1;
        __atomic_store_n(&context->streams, known, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

struct mark *stream_context_mark(struct relay_context *context)
{
    static struct mark none = {.word = -1}; /* without memory: never reached, shared by all */
    struct context_streams *of = streams_of(context);
    return of ? &of->all : &none;
}

CUresult stream_create(struct relay_context *context, unsigned flags, int priority, struct stream **made)
{
    struct stream *stream = malloc(sizeof *stream);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fill(stream, context);
    stream->flags = flags;
    stream->priority = priority;
    CUresult result = MESSAGE_CALL(context, ENTRY_cuStreamCreateWithPriority, OUT(&stream->handle, 8), VALUE(flags),
                                   VALUE((uint32_t)priority));
    if (result == CUDA_SUCCESS && !table_put(&streams, stream->handle, stream)) {
        MESSAGE_POST(context, ENTRY_cuStreamDestroy_v2, VALUE(stream->handle));
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
        free(stream);
    else
        *made = stream;
    return result;
}

void streams_on_end(void (*wanted)(const struct stream *stream))
{
    ending = wanted;
}

static void forget(struct stream *stream)
{
    capture_stream_gone(stream);
    if (ending)
        ending(stream);
    completion_give(stream->context->link, stream->mark.word);
}

CUresult stream_destroy(struct stream *stream)
{
    if (!table_take(&streams, stream->handle))
        return CUDA_ERROR_INVALID_HANDLE;
    forget(stream);
    CUresult result = MESSAGE_POST(stream->context, ENTRY_cuStreamDestroy_v2, VALUE(stream->handle));
    free(stream);
    return result;
}

static bool is_present(const struct own *own)
{
    return own->context->alive && own->context->generation == own->generation;
}

/* Runs at thread exit. The streams' work goes on, and the executor waits for it. */
static void destroy_own(void *first)
{
    struct own *own = first;
    while (own) {
        struct own *next = own->next;
        if (is_present(own))
            stream_destroy(own->stream);
        free(own);
        own = next;
    }
}

static void make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, destroy_own) == 0;
}

static CUresult own_stream(struct relay_context *context, struct stream **stream)
{
    for (struct own *own = owned; own; own = own->next)
        if (own->context == context && is_present(own)) {
            *stream = own->stream;
            return CUDA_SUCCESS;
        }
    pthread_once(&exit_key_once, make_exit_key);
    struct own *own = calloc(1, sizeof *own);
    if (!own || !exit_key_made) {
        free(own);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = stream_create(context, 0, 0, stream);
    if (result != CUDA_SUCCESS) {
        free(own);
        return result;
    }
    (*stream)->per_thread = true;
    *own = (struct own){owned, *stream, context, context->generation};
    owned = own;
    pthread_setspecific(exit_key, owned);
    return CUDA_SUCCESS;
}

CUresult stream_enter(CUstream handle, struct relay_context **context, struct stream **stream)
{
    uintptr_t name = (uintptr_t)handle;
    bool named = name > TESSERA_STREAM_PER_THREAD;
    *stream = named ? table_find(&streams, name) : NULL;
    CUresult result;
    if (*stream) { /* its context is alive, or the stream would not be in the table */
        struct relay_link *link = (*stream)->context->link;
        bool usable = __atomic_load_n(&link->segment->context_error, __ATOMIC_RELAXED) == 0 &&
                      __atomic_load_n(&link->lost, __ATOMIC_RELAXED) == 0;
        *context = (*stream)->context;
        result = __builtin_expect(usable, 1) ? CUDA_SUCCESS : relay_link_state(link);
    } else if ((result = relay_enter(context)) != CUDA_SUCCESS || named) {
        result = result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
    } else if (name == TESSERA_STREAM_PER_THREAD) {
        result = own_stream(*context, stream);
    } else {
        struct context_streams *of = __atomic_load_n(&(*context)->streams, __ATOMIC_ACQUIRE);
        if (!of && !(of = streams_of(*context)))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else if (__builtin_expect(__atomic_load_n(&(*context)->captures, __ATOMIC_ACQUIRE) != 0, 0))
            result = capture_implicit(*context);
        *stream = of ? &of->legacy : NULL;
    }
    return result;
}

struct stream *stream_of(struct relay_context *context, uint64_t wire)
{
    if (wire == 0) {
        struct context_streams *of = streams_of(context);
        return of ? &of->legacy : NULL;
    }
    return table_find(&streams, wire);
}

CUresult relay_stream_wire(struct relay_context *context, CUstream handle, bool per_thread, uint64_t *wire)
{
    struct relay_context *of;
    struct stream *stream;
    (void)context; /* the current one, which stream_enter takes too */
    if (!handle && per_thread)
        handle = (CUstream)TESSERA_STREAM_PER_THREAD;
    CUresult result = stream_enter(handle, &of, &stream);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_submit(stream);
    if (result == CUDA_SUCCESS)
        *wire = stream->handle;
    return result;
}

bool relay_stream_capturing(struct relay_context *context, uint64_t wire)
{
    const struct stream *stream = capture_any() ? stream_of(context, wire) : NULL;
    return stream && capture_status(stream).state != 0;
}

static bool is_of_context(const void *value, const void *of)
{
    return ((const struct stream *)value)->context == of;
}

void relay_streams_context_ended(struct relay_context *context)
{
    struct stream *stream;
    uint32_t at = 0;
    while ((stream = table_take_where(&streams, &at, is_of_context, context)) != NULL) {
        forget(stream);
        free(stream);
    }
    struct context_streams *of = __atomic_exchange_n(&context->streams, NULL, __ATOMIC_ACQ_REL);
    if (of) {
        forget(&of->legacy);
        completion_give(context->link, of->all.word);
        free(of);
    }
}
