/* Streams of the program: what the client keeps of each, and their synchronisation by completion words. */
#ifndef TESSERA_RELAY_STREAMS_H
#define TESSERA_RELAY_STREAMS_H

#include <pthread.h>

#include "relay/wire/relay.h"

struct capture;

/*
 * A completion word that the device writes when the work before a ring position is done. No new MARK is needed while nothing
 * was submitted behind that position.
 */
struct mark {
    int word;          /* -1: none yet */
    uint64_t value;    /* what the last MARK writes; even */
    uint64_t position; /* ring position just before that record */
    uint64_t reached;  /* position up to which all work is known to be done */
    bool prints;       /* functions could print when the last MARK was sent: their text comes before value + 1 */
};

struct stream {
    uint64_t handle; /* the executor's; 0: a context's legacy stream */
    struct relay_context *context;
    uint64_t submitted; /* ring position behind its last work; the legacy stream uses the end of the ring */
    uint64_t id;
    unsigned flags; /* CU_STREAM_NON_BLOCKING */
    int priority;
    bool per_thread;      /* a thread's own: cuStreamDestroy refuses it */
    pthread_mutex_t lock; /* of the mark */
    struct mark mark;
    uint64_t unseen; /* ring position up to which all work is done, or is a copy to the device whose source was read */
    struct capture *capture;      /* changed under the lock in capture.c; NULL: work runs */
    struct stream *captured_next; /* in its capture's list */
    bool joined;                  /* its capture began in another stream */
};

/* The stream of the executor's handle `wire` (0: the context's legacy stream); NULL: none. */
struct stream *stream_of(struct relay_context *context, uint64_t wire);

/*
 * The stream that a program names: 0, 1 and 2 with their meaning. 0, INVALID_HANDLE, CONTEXT_IS_DESTROYED, or
 * STREAM_CAPTURE_IMPLICIT for the legacy stream while a blocking stream is captured.
 */
CUresult stream_enter(CUstream handle, struct relay_context **context, struct stream **stream);

/* Whether all of the stream's work before ring position `position` is known to be complete. */
bool stream_done(struct stream *stream, uint64_t position);

/* All work of the stream before ring position `position` was seen to be complete, by an event behind it. */
void stream_reached(struct stream *stream, uint64_t position);

/*
 * Whether none of the stream's work can still change what the host sees: all of it is known to be done, or is copies to the
 * device whose sources were read. *now is the ring's end, for a stream_unseen() that adds another such copy.
 */
bool stream_settled(struct stream *stream, uint64_t *now);

/*
 * The stream's record from `begin` to `end` is a copy to the device whose source was read. `settled`: *now of the
 * stream_settled() before it, which was true.
 */
void stream_unseen(struct stream *stream, uint64_t settled, uint64_t begin, uint64_t end);

/*
 * Arranges that a word becomes *value when the stream's work up to ring position `position` is done, if that is its last
 * work. False: other work is behind it, the stream is the legacy one or is captured, or there is no word.
 */
bool stream_mark_behind(struct stream *stream, uint64_t position, int *word, uint64_t *value);

/* The present end of the ring: work submitted so far lies before it. */
static inline uint64_t ring_position(const struct relay_link *link)
{
    return __atomic_load_n(&link->segment->claimed, __ATOMIC_SEQ_CST);
}

/* Work for the stream ends at ring position `end`. */
static inline void stream_submitted_to(struct stream *stream, uint64_t end)
{
    uint64_t known = __atomic_load_n(&stream->submitted, __ATOMIC_RELAXED);
    while (known < end &&
           !__atomic_compare_exchange_n(&stream->submitted, &known, end, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

/* Work for the stream was put into the ring, at an unknown position. */
static inline void stream_submitted(struct stream *stream)
{
    if (stream->handle != 0)
        stream_submitted_to(stream, ring_position(stream->context->link));
}

/* As cuStreamSynchronize: waits for all work of the stream, writes what it printed, and returns its error, or 0. */
CUresult stream_synchronise(struct stream *stream);

/*
 * The handle that is sent for a stream that the program names: 0 for the legacy stream, the per-thread stream's handle (made at a
 * thread's first use), or the handle itself. per_thread: the entry's stream 0 is the per-thread one (_ptsz, _ptds).
 */
CUresult relay_stream_wire(struct relay_context *context, CUstream stream, bool per_thread, uint64_t *wire);

/* Work was submitted to the stream, so a completion that was seen before no longer holds. After the record's commit. */
void relay_stream_submitted(struct relay_context *context, uint64_t wire);

/* As cuCtxSynchronize. */
CUresult relay_context_wait(struct relay_context *context);

/*
 * Waits until all work is done that was submitted to the executor in any context. An error of asynchronous work stays
 * for a call that may report it.
 */
void relay_wait_all(struct relay_link *link);

/* As cuStreamSynchronize: waits for all submitted work and returns its error, or 0. */
CUresult relay_stream_wait(struct relay_context *context, uint64_t wire);

/* Whether the stream is being captured. */
bool relay_stream_capturing(struct relay_context *context, uint64_t wire);

#endif
