/*
 * Streams and the work in them. A stream is a queue and a thread that runs it in order; the legacy stream and blocking
 * streams of a context wait for each other by the sequence numbers of their work.
 */
#ifndef SCRIPTED_STREAM_H
#define SCRIPTED_STREAM_H

#include <pthread.h>
#include <stdbool.h>

#include "abi.h"
#include "driver.h"
#include "graphs/user_object.h"

struct capture;
struct event;
struct function;

enum work_kind {
    WORK_NOTHING, /* takes its duration: prefetch, attach */
    WORK_COPY,
    WORK_FILL,
    WORK_KERNEL,
    WORK_HOST,
    WORK_CALLBACK,
    WORK_RECORD,
    WORK_WAIT_EVENT,
    WORK_WRITE_VALUE,
    WORK_WAIT_VALUE,
    WORK_FREE,
    WORK_RELEASE, /* the end of a graph's launch: its user objects */
};

/* A copy of rows: width bytes, height rows, depth slices. Linear copies have height and depth 1. */
struct copy_shape {
    unsigned char *target;
    const unsigned char *source;
    size_t target_pitch, source_pitch, target_slice, source_slice;
    size_t width, height, depth;
};

struct fill_shape {
    unsigned char *target;
    size_t pitch, width, height; /* width in elements */
    unsigned element_bytes, value;
};

struct work {
    struct work *next;
    enum work_kind kind;
    uint64_t sequence, submitted_ns, duration_ns, bound_ns;
    union {
        struct copy_shape copy;
        struct fill_shape fill;
        struct {
            struct function *function;
            unsigned blocks;
            CUdeviceptr globals[2]; /* that the kernel uses; the module may be gone when it runs */
            unsigned char parameters[64];
        } kernel;
        struct {
            void (*function)(void *);
            void *data;
        } host;
        struct {
            void (*function)(void *, CUresult, void *);
            void *data;
        } callback;
        struct {
            struct event *event;
            uint64_t generation;
        } event;
        struct {
            void *address;
            uint64_t value;
            unsigned bytes, flags;
        } value;
        CUdeviceptr pointer;
        struct user_objects objects;
    } as;
    void *heap; /* owned: staged source of a copy */
    size_t heap_bytes;
};

struct stream {
    struct stream *next; /* in its context */
    struct context *context;
    bool legacy, blocking, per_thread, closing, worker;
    int priority;
    unsigned flags;
    pthread_t thread_of; /* owner of a per-thread stream */
    uint64_t id;
    struct work *head, **tail; /* the head is running or waits to */
    uint64_t done_ns;          /* end of the last piece of work on the GPU's clock */
    pthread_cond_t wake;
    struct capture *capture;
    bool capture_origin, capture_unjoined;
    struct graph_node *capture_tail;
};

/* Resolves a handle; 0 is `otherwise`. Under the lock. */
CUresult stream_resolve(void *handle, uintptr_t otherwise, struct stream **stream);
CUresult stream_create(struct context *context, bool blocking, int priority, struct stream **stream);

/* Enqueues work, or records it while the stream is captured. Takes ownership of it. Under the lock. */
CUresult stream_submit(struct stream *stream, struct work *work);
struct work *work_new(enum work_kind kind);
struct work *work_clone(const struct work *work);
void work_free(struct work *work);
bool work_occupies(const struct work *work); /* keeps the GPU from another process */

/* Waits until everything submitted to the stream before is complete. Under the lock, which is given up meanwhile. */
CUresult stream_wait(struct stream *stream);
bool stream_pending(const struct stream *stream);
/* Destroys a stream; its work goes on to the end. Under the lock. */
void stream_close(struct stream *stream);
/* Ends all streams of a context whose work is complete. Under the lock. */
void stream_end_all(struct context *context);

/* Runs the GPU time of work that may begin at begin_ns; returns when it is over, on the GPU's clock. No lock. */
uint64_t timeshare_run(int device, uint64_t begin_ns, uint64_t duration_ns);

/* Does what the work does; answers the asynchronous error, or 0. No lock. */
CUresult work_execute(struct stream *stream, struct work *work);

struct event {
    int device;
    struct context *context;
    unsigned flags;
    uint64_t recorded, completed; /* generations */
    uint64_t completed_ns;
    struct capture *capture; /* recorded while captured: it stands for a place in the graph */
    struct graph_node *node;
    struct stream *capture_stream;
};

#endif
