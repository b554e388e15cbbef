#include "relay/streams/streams.h"

#include <stdlib.h>

#include "relay/code/functions.h"
#include "relay/code/printf.h"
#include "relay/streams/capture.h"
#include "relay/streams/events.h"
#include "relay/streams/stream_table.h"
#include "relay/wire/context.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "relay/wire/completion.h"
#include "session/syncing.h"

#define MARK_ROOM ((sizeof(struct tessera_record) + sizeof(struct tessera_mark) + 15) & ~15ULL)

/*
 * Whether the last mark lies behind all work. For the legacy stream, which waits for blocking streams, and for a context,
 * which waits for all, no record at all may have been claimed since.
 */
static bool is_last(const struct relay_link *link, const struct mark *mark, const struct stream *stream)
{
    if (mark->value == 0)
        return false;
    return stream && stream->handle != 0 ? __atomic_load_n(&stream->submitted, __ATOMIC_ACQUIRE) <= mark->position
                                         : ring_position(link) <= mark->position + MARK_ROOM;
}

static bool look(struct relay_link *link, struct mark *mark)
{
    if (mark->word < 0 || mark->value == 0 || !relay_word_reached(link, mark->word, mark->value))
        return false;
    if (mark->reached < mark->position)
        mark->reached = mark->position;
    return true;
}

/*
 * Sends a mark unless the last one follows all work. Under the mark's lock. `stream` NULL: all streams of the
 * context. `query`: the executor answers whether the stream has reached the mark, SUCCESS or NOT_READY.
 */
static CUresult ask(struct relay_context *context, const struct stream *stream, struct mark *mark, bool query)
{
    /* The executor learns before the client that a function prints, so it adds the text to each mark sent from now on. */
    bool prints = functions_print(context->link);
    if (is_last(context->link, mark, stream) && mark->prints == prints)
        return CUDA_SUCCESS;
    if (mark->word < 0 && (mark->word = completion_take(context->link, 0)) < 0) {
        static int said;
        return relay_limit_reached(
            &said,
            "more streams, events and host functions are waited for than space sharing has words for (16,384): destroy "
            "streams and events that are not needed any more");
    }
    look(context->link, mark);
    mark->position = ring_position(context->link);
    mark->value = completion_next(context->link, mark->word);
    mark->prints = prints;
    uint64_t handle = stream ? stream->handle : TESSERA_RELAY_ALL_STREAMS;
    return query ? relay_ask_mark(context, TESSERA_RELAY_MARK, handle, mark->word, mark->value)
                 : relay_send_awaited_mark(context, handle, mark->word, mark->value);
}

/* Waits for all work submitted so far, and writes what its kernels printed. */
static CUresult wait_for(struct relay_context *context, const struct stream *stream, struct mark *mark,
                         pthread_mutex_t *lock)
{
    struct relay_link *link = context->link;
    pthread_mutex_lock(lock);
    CUresult result = ask(context, stream, mark, false);
    uint64_t value = mark->value, position = mark->position;
    int word = mark->word;
    bool prints = mark->prints;
    pthread_mutex_unlock(lock);
    if (result == CUDA_SUCCESS)
        result = relay_wait_word(link, word, value + prints);
    if (prints)
        printf_flush(link);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(lock);
    if (mark->reached < position)
        mark->reached = position;
    pthread_mutex_unlock(lock);
    return relay_take_error(link);
}

CUresult stream_synchronise(struct stream *stream)
{
    struct sync_pass pass = syncing_begin();
    CUresult result = wait_for(stream->context, stream, &stream->mark, &stream->lock);
    syncing_end(pass);
    return result;
}

static CUresult query(struct stream *stream)
{
    struct relay_link *link = stream->context->link;
    pthread_mutex_lock(&stream->lock);
    if (stream->handle != 0 && stream->mark.reached >= __atomic_load_n(&stream->submitted, __ATOMIC_ACQUIRE)) {
        pthread_mutex_unlock(&stream->lock);
        return relay_take_error(link);
    }
    uint64_t before = stream->mark.value;
    CUresult result = ask(stream->context, stream, &stream->mark, true);
    bool asked = stream->mark.value != before, done = asked && result == CUDA_SUCCESS;
    /* The legacy stream first waits for others in the executor, which takes the device a moment even if all is done. */
    if (result == CUDA_ERROR_NOT_READY && stream->handle == 0)
        completion_reached_soon(link, stream->mark.word, stream->mark.value, stream->mark.position);
    if (done && stream->mark.reached < stream->mark.position)
        stream->mark.reached = stream->mark.position;
    if (result == CUDA_ERROR_NOT_READY)
        result = CUDA_SUCCESS;
    done = done || (result == CUDA_SUCCESS && look(link, &stream->mark));
    pthread_mutex_unlock(&stream->lock);
    if (result == CUDA_SUCCESS)
        result = relay_take_error(link);
    return result != CUDA_SUCCESS || done ? result : CUDA_ERROR_NOT_READY;
}

void stream_reached(struct stream *stream, uint64_t position)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->mark.reached < position)
        stream->mark.reached = position;
    pthread_mutex_unlock(&stream->lock);
}

bool stream_done(struct stream *stream, uint64_t position)
{
    struct mark *all = stream_context_mark(stream->context);
    pthread_mutex_lock(&stream->lock);
    look(stream->context->link, &stream->mark);
    bool done = stream->mark.reached >= position || __atomic_load_n(&all->reached, __ATOMIC_RELAXED) >= position;
    pthread_mutex_unlock(&stream->lock);
    return done;
}

bool stream_settled(struct stream *stream, uint64_t *now)
{
    struct relay_link *link = stream->context->link;
    if (functions_print(link)) /* only a wait brings what was printed */
        return false;
    pthread_mutex_lock(&stream->lock);
    *now = ring_position(link);
    uint64_t submitted = stream->handle != 0 ? __atomic_load_n(&stream->submitted, __ATOMIC_ACQUIRE) : *now;
    bool settled = submitted <= stream->unseen || (is_last(link, &stream->mark, stream) &&
                                                   relay_word_reached(link, stream->mark.word, stream->mark.value));
    pthread_mutex_unlock(&stream->lock);
    return settled;
}

void stream_unseen(struct stream *stream, uint64_t settled, uint64_t begin, uint64_t end)
{
    pthread_mutex_lock(&stream->lock);
    /* The legacy stream waits for others too: nothing else may have come between. */
    if (stream->unseen < end && (stream->handle != 0 || begin == settled))
        stream->unseen = end;
    pthread_mutex_unlock(&stream->lock);
}

bool stream_mark_behind(struct stream *stream, uint64_t position, int *word, uint64_t *value)
{
    if (stream->handle == 0 || __atomic_load_n(&stream->submitted, __ATOMIC_ACQUIRE) > position)
        return false;
    pthread_mutex_lock(&stream->lock);
    bool marked = !stream->capture && ask(stream->context, stream, &stream->mark, false) == CUDA_SUCCESS;
    *word = stream->mark.word;
    *value = marked ? stream->mark.value : 0;
    pthread_mutex_unlock(&stream->lock);
    return marked;
}

CUresult relay_stream_wait(struct relay_context *context, uint64_t wire)
{
    struct stream *stream = stream_of(context, wire);
    return stream ? stream_synchronise(stream) : CUDA_ERROR_INVALID_HANDLE;
}

void relay_stream_submitted(struct relay_context *context, uint64_t wire)
{
    struct stream *stream = wire ? stream_of(context, wire) : NULL;
    if (stream)
        stream_submitted(stream);
}

CUresult relay_cuStreamSynchronize(CUstream handle)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = stream_enter(handle, &context, &stream);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_touched(stream);
    return result != CUDA_SUCCESS ? result : stream_synchronise(stream);
}

CUresult relay_cuStreamQuery(CUstream handle)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = stream_enter(handle, &context, &stream);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_touched(stream);
    return result != CUDA_SUCCESS ? result : query(stream);
}

static CUresult synchronise_context(struct relay_context *context)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    CUresult result = capture_any() ? capture_synchronised(context) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    struct sync_pass pass = syncing_begin();
    result = wait_for(context, NULL, stream_context_mark(context), &lock);
    syncing_end(pass);
    return result;
}

CUresult relay_context_wait(struct relay_context *context)
{
    return synchronise_context(context);
}

static void wait_and_keep(struct relay_context *context)
{
    CUresult result = synchronise_context(context);
    if (result != CUDA_SUCCESS && relay_link_state(context->link) == CUDA_SUCCESS)
        relay_put_error(context->link, result);
}

void relay_wait_all(struct relay_link *link)
{
    context_each(link, wait_and_keep);
}

CUresult relay_cuCtxSynchronize(void)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS ? result : synchronise_context(context);
}

CUresult relay_cuCtxSynchronize_v2(CUcontext handle)
{
    struct relay_context *context;
    if (!handle)
        return relay_cuCtxSynchronize();
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    context = relay_context_of(handle);
    if (!context || !context->alive)
        return context ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
    result = relay_link_state(context->link);
    return result != CUDA_SUCCESS ? result : synchronise_context(context);
}
