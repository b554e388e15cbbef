/*
 * The state of the driver in this process. One lock guards all of it; no lock is held while work executes, while a
 * script delays a call, or while a function of the program runs.
 */
#ifndef SCRIPTED_DRIVER_H
#define SCRIPTED_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "abi.h"
#include "script/script.h"

struct pool;
struct stream;

struct device {
    CUuuid uuid;
    char name[64];
    uint64_t total_bytes;
    struct context *primary; /* NULL until first retained, kept afterwards: the handle stays the same */
    unsigned primary_flags;
    struct pool *default_pool, *current_pool;
    uint64_t graph_bytes, graph_bytes_high; /* memory of graph allocation nodes */
};

struct context {
    int device;
    bool primary, active;
    unsigned references; /* retains of a primary context */
    unsigned flags, api_version;
    uint64_t id;
    CUresult sticky;                 /* error of asynchronous work; every later call answers with it */
    uint64_t sequence;               /* of the last piece of work submitted */
    struct stream *legacy, *streams; /* streams: all of them, the legacy one too */
    uint64_t limits[16];
    struct context *next; /* on its device */
    uint64_t code_bytes;  /* of the device, of kernels that were launched */
    unsigned peers;       /* bit per device whose memory this context may use */
};

enum handle_kind {
    HANDLE_CONTEXT = 1,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_KERNEL,
    HANDLE_LIBRARY,
    HANDLE_POOL,
    HANDLE_MEMORY,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_ARRAY,
    HANDLE_LINK,
    HANDLE_USER_OBJECT,
};

/* Every handle given out and not yet destroyed. Under the lock. */
void handle_add(enum handle_kind kind, void *handle);
bool handle_is(enum handle_kind kind, const void *handle);
bool handle_drop(enum handle_kind kind, void *handle);

extern struct device devices[SCRIPT_MAX_DEVICES];
extern bool driver_initialised;
extern uint64_t driver_ids; /* last unique id given out; under the lock */

void driver_lock(void);
void driver_unlock(int *unused);
/* Wakes every thread that waits for a change: a completed piece of work, a captured stream, a context that ends. */
void driver_changed(void);
/* Releases the lock until something changes, or until `until_ns` (0: no bound). */
void driver_wait(uint64_t until_ns);
/* As driver_wait(), on a condition of the caller. */
void driver_wait_on(pthread_cond_t *condition);

/* Holds the lock to the end of the block. */
#define LOCKED                                                                                                         \
    int locked __attribute__((cleanup(driver_unlock), unused)) = 0;                                                    \
    driver_lock()

void driver_forked(void);

/* Whether the calling thread runs a function that the program gave to a stream: it may not call the driver there. */
extern _Thread_local bool driver_in_callback;

bool device_valid(CUdevice device);

/* The calling thread's context in *context. 201 without one, 709 after its end, or its sticky error. */
CUresult context_current(struct context **context);
/* NULL: none. */
struct context *context_top(void);
/* The contexts of a device. Under the lock. */
struct context *context_first(int device);
struct context *context_next(struct context *context);
bool context_valid(const struct context *context);
/* The primary context's handle, made but not active. Under the lock. */
struct context *context_primary(int device);
/* Waits until all work of the context is complete. Under the lock, which is given up meanwhile. */
CUresult context_wait(struct context *context);
/* The first error of asynchronous work. Under the lock. */
void context_fault(struct context *context, CUresult error);

#endif
