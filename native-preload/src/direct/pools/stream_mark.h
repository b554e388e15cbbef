/*
 * Places in streams: where a stream was when memory was freed in its order, and whether it has come that far. Backed by
 * events of ours, kept for reuse by the context that they belong to.
 */
#ifndef TESSERA_STREAM_MARK_H
#define TESSERA_STREAM_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera_entries.h"

/* A stream of this process. Handles of default streams mean another stream in each context, or in each thread. */
struct stream_identity {
    uintptr_t handle; /* never 0; TESSERA_STREAM_LEGACY and TESSERA_STREAM_PER_THREAD stay as they are. 0: none */
    CUcontext context;
    uint64_t thread; /* number of the thread whose own default stream it is; else 0 */
};

#define STREAM_GONE UINTPTR_MAX /* a handle that no stream has */

struct stream_mark {
    struct stream_identity stream;
    CUevent event; /* NULL: `reached` is all that is known */
    bool reached;
};

/* Identifies the stream that an entry was given; `otherwise`: its own default. CUDA's error for a stream that is none. */
CUresult stream_identify(CUstream stream, uintptr_t otherwise, struct stream_identity *identity);

static inline bool stream_same(struct stream_identity a, struct stream_identity b)
{
    return a.handle == b.handle && a.context == b.context && a.thread == b.thread;
}

/*
 * Marks where the stream is now. If no event could be had, succeeds without one: the mark is reached when the caller
 * sets `reached`. Recording an event may wait (a full queue), so no lock may be held.
 */
CUresult stream_mark_take(struct stream_identity stream, struct stream_mark *mark);

/* Whether the stream has come that far. Gives the event back as soon as it has. Never waits. */
bool stream_mark_reached(struct stream_mark *mark);

/* Makes what is submitted to `stream` from now on wait for the mark. Only for a mark with an event. */
CUresult stream_mark_follow(const struct stream_mark *mark, struct stream_identity stream);

/* The mark is not needed any more. */
void stream_mark_drop(struct stream_mark *mark);

/* Whether the mark belongs to the context; its events are gone with it. */
static inline bool stream_mark_of(const struct stream_mark *mark, const void *context)
{
    return mark->stream.handle && mark->stream.context == context;
}

/* The context has ended: events that were kept for it are forgotten. */
void stream_marks_context_ended(const void *context);

/* In the child of a fork. */
void stream_marks_forked(void);

/*
 * Brackets calls that a global stream capture of any thread would refuse, though they touch no captured stream. Costs
 * one load where nothing is captured.
 */
struct capture_mode {
    int before;
    bool changed;
};
struct capture_mode capture_mode_relax(void);
void capture_mode_restore(struct capture_mode mode);

#endif
