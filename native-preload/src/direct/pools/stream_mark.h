/*
 * Marks: the place in a stream where memory was freed, and whether the stream's work has reached it. A mark is an event
 * of the library; events are kept and reused for their context. Any thread.
 */
#ifndef TESSERA_STREAM_MARK_H
#define TESSERA_STREAM_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera_entries.h"

/* Identifies a stream of this process: the handles of default streams name another stream in each context or thread. */
struct stream_identity {
    uintptr_t handle; /* 0: no stream. Default streams have TESSERA_STREAM_LEGACY or TESSERA_STREAM_PER_THREAD */
    CUcontext context;
    uint64_t thread; /* of a per-thread default stream: the thread's number; else 0 */
};

#define STREAM_GONE UINTPTR_MAX /* a value that is no stream's handle */

struct stream_mark {
    struct stream_identity stream;
    CUevent event; /* NULL: `reached` alone decides */
    bool reached;
};

/*
 * Identifies the stream argument of an entry; `otherwise` is what NULL means there. CUDA's error for an invalid stream.
 */
CUresult stream_identify(CUstream stream, uintptr_t otherwise, struct stream_identity *identity);

static inline bool stream_same(struct stream_identity a, struct stream_identity b)
{
    return a.handle == b.handle && a.context == b.context && a.thread == b.thread;
}

/*
 * Marks the present end of the stream's work. Succeeds without an event if the driver gives none; then the caller sets
 * `reached`. The caller holds no lock, because recording an event may wait for a full queue.
 */
CUresult stream_mark_take(struct stream_identity stream, struct stream_mark *mark);

/* Whether the stream has reached the mark; if so, the event is kept for reuse. Never waits. */
bool stream_mark_reached(struct stream_mark *mark);

/* Makes later work of `stream` wait for the mark, which must have an event. */
CUresult stream_mark_follow(const struct stream_mark *mark, struct stream_identity stream);

/* Ends the mark; its event is kept for reuse. */
void stream_mark_drop(struct stream_mark *mark);

/* Whether the mark's event belongs to the context. */
static inline bool stream_mark_of(const struct stream_mark *mark, const void *context)
{
    return mark->stream.handle && mark->stream.context == context;
}

/* The context has ended, and the events that were kept for it are gone. */
void stream_marks_context_ended(const void *context);

/* In the child of a fork. */
void stream_marks_forked(void);

/*
 * Brackets calls that a capture in global mode would forbid to any thread, although they touch no captured stream.
 * Costs one load while no stream is captured.
 */
struct capture_mode {
    int before;
    bool changed;
};
struct capture_mode capture_mode_relax(void);
void capture_mode_restore(struct capture_mode mode);

#endif
