/*
 * The interface between the files of the relay port. RELAY.md describes the protocol; exported entries are
 * the functions relay_NAME, generated (relay_senders.c, relay_twins.c) or written by hand in the file named after their subject.
 *
 * A link is the connection to the executor of one device. A context is the program's; the executor has one context of its
 * own and knows the program's by number. Every function may be called by any thread unless it says otherwise.
 */
#ifndef TESSERA_RELAY_PORT_H
#define TESSERA_RELAY_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/segment.h"
#include "tessera_entries.h"
#include "tessera_relay.h"
#include "session/threads.h"

/* ---- Links (link.c) ---------------------------------------------------------------------------------------------- */

struct relay_link {
    struct tessera_relay_segment *segment; /* mapped for the life of the process once the link is up */
    unsigned device;                       /* ordinal in this program: index into relay_links */
    unsigned number;      /* the manager's number of the device: bits 36 to 39 of the executor's handles */
    int socket;           /* the executor's; -1: none any more */
    uint64_t looked_ns;   /* when a silent executor's process was last checked */
    uint32_t lost;        /* 1: the executor is gone; every call answers CONTEXT_IS_DESTROYED */
    uint32_t limit_valid; /* limits set by the program: bit i says that limits[i] holds */
    uint64_t limits[TESSERA_RELAY_LIMITS];
};

extern struct relay_link relay_links[TESSERA_MAX_DEVICES];
extern unsigned relay_link_count; /* devices that the program sees; constant after cuInit */

/* The link of a device that the program names: 0, NOT_INITIALIZED, DEINITIALIZED or INVALID_DEVICE. */
CUresult relay_link_at(int device, struct relay_link **link);

/* Whether `value` is a handle of an executor, and of which type (TESSERA_HANDLE_*); 0: it is none. */
static inline unsigned relay_handle_type(uint64_t value)
{
    return value >> 45 == TESSERA_HANDLE_TAG >> 45 ? (unsigned)(value >> 40 & 0x1f) : 0;
}

/* The link whose executor made the handle; NULL: not a handle, or not of a link of this process. */
struct relay_link *relay_link_of(uint64_t handle);

/* 0, or the error of every further call: context_error, or CONTEXT_IS_DESTROYED. Reads the clock. */
CUresult relay_link_state(struct relay_link *link);

/* Returns context_error, or else takes the first error of records without a reply. For calls that may report earlier errors. */
CUresult relay_take_error(struct relay_link *link);

/* Stores an error that the client found late, for relay_take_error() to return. */
void relay_put_error(struct relay_link *link, CUresult error);

/* 0 once cuInit has succeeded in this process, else NOT_INITIALIZED or DEINITIALIZED. */
CUresult relay_started(void);

/* ---- Contexts (context.c) ---------------------------------------------------------------------------------------- */

struct relay_context {
    CUcontext handle; /* what the program holds */
    struct relay_link *link;
    uint16_t number; /* in record headers */
    bool primary;
    bool alive;          /* false: destroyed; the structure stays, so that a stale handle is told from garbage */
    unsigned flags;      /* CUctx_flags */
    unsigned version;    /* cuCtxGetApiVersion */
    unsigned retained;   /* primary: cuDevicePrimaryCtxRetain less Release */
    uint64_t id;         /* cuCtxGetId */
    unsigned generation; /* incremented when the context ends; objects of an earlier generation no longer exist */
    int cache_config;
    int shared_config;
    /* Owned by the streams' layer: */
    struct context_streams *streams; /* NULL until a stream of it is used */
    unsigned captures;               /* open captures of its streams */
};

/* The calling thread's current context; NULL: none. */
extern __thread struct relay_context *relay_current __attribute__((tls_model("initial-exec")));

/* Whether the calling thread is inside a function that a stream or graph called: it must not call the driver (NOT_PERMITTED). */
extern __thread bool callback_inside __attribute__((tls_model("initial-exec")));

/* The error of an entry that finds no usable context: not started, none current, destroyed, or its link's state. */
CUresult relay_no_context(void);

/* The current context, ready for a call: 0, or the error to return. */
static inline CUresult relay_enter(struct relay_context **context)
{
    struct relay_context *current = relay_current;
    *context = current;
    bool usable = current && __atomic_load_n(&current->alive, __ATOMIC_RELAXED) &&
                  __atomic_load_n(&current->link->segment->context_error, __ATOMIC_RELAXED) == 0 &&
                  __atomic_load_n(&current->link->lost, __ATOMIC_RELAXED) == 0;
    return __builtin_expect(usable, 1) ? CUDA_SUCCESS : relay_no_context();
}

/* The context of a program's handle, the current one for NULL; NULL if there is none. */
struct relay_context *relay_context_of(CUcontext handle);

/* The primary context of a link, active or not. */
struct relay_context *relay_primary(struct relay_link *link);

/* ---- Records (ring.c) -------------------------------------------------------------------------------------------- */

/* Where a record lies in the ring, from one position to another; both 0: there is none. */
struct ring_span {
    uint64_t begin, end;
};

struct relay_claimed {
    struct tessera_record *record; /* NULL: the link is lost */
    void *body;                    /* what follows the record's header */
    int32_t length;
    struct ring_span span;
};

#define RELAY_NO_END UINT64_MAX

/*
 * Claims room for a record with `bytes` after its header, and fills in the header's kind; the commit writes its length.
 * Waits while the ring is full, until `until_ns` (monotonic_ns, or RELAY_NO_END) or until the executor is gone; then there
 * is no record. The caller writes the rest before the commit. The room is zeroed, so padding need not be written.
 */
struct relay_claimed relay_claim(struct relay_link *link, unsigned kind, size_t bytes, uint64_t until_ns);

/* Makes the record visible and wakes the executor if it sleeps. */
void relay_commit(struct relay_link *link, struct relay_claimed claimed);

/* ---- Calls (reply.c) ------------------------------------------------------------------------------------- */

/* One slot for the time of one call. */
struct relay_slot {
    struct tessera_reply *reply;
    unsigned index; /* the record's slot is index + 1 */
};

/*
 * Takes a slot for one record that has an answer: the calling thread's last slot if it is free. Waits as long as the
 * executor lives. False: the link is lost.
 */
bool relay_slot_take(struct relay_link *link, struct relay_slot *slot);

/* Waits for the answer: the executor's result, or why there is none. reply->bytes of out-data are at reply + 1. */
CUresult relay_slot_wait(struct relay_link *link, struct relay_slot *slot);

void relay_slot_give(struct relay_link *link, struct relay_slot *slot);

/* A question to the executor: `bytes` of out-data at most are copied to `out` (the rest of it is zeroed). */
CUresult relay_query(struct relay_link *link, unsigned query, uint64_t value, void *out, size_t bytes);

/* ---- Completion words (completion_words.c) ----------------------------------------------------------------------------------- */

/*
 * Takes a completion word. It keeps the value that it was left at, so values must go on growing. -1: no more than `leave` words
 * are left. Streams and staging, of which there are few (1,024 streams, 2 more for each of 256 contexts), leave none. All other users
 * leave RELAY_WORDS_OF_STREAMS for them.
 */
#define RELAY_WORDS_OF_STREAMS 2048u
int relay_word_take(struct relay_link *link, unsigned leave);
void relay_word_give(struct relay_link *link, int word);

static inline uint64_t *relay_word(struct relay_link *link, int word)
{
    return &link->segment->word[word];
}

/* Whether the word has reached the value: an acquire load. */
static inline bool relay_word_reached(struct relay_link *link, int word, uint64_t value)
{
    return __atomic_load_n(relay_word(link, word), __ATOMIC_ACQUIRE) >= value;
}

/* Waits until the word has reached the value: spins, yields, then sleeps (backoff.h). 0, or the link's state. */
CUresult relay_wait_word(struct relay_link *link, int word, uint64_t value);

/* Sends MARK, WATCH_EVENT or HOST_CALL. Nothing comes back. */
CUresult relay_send_mark(struct relay_context *context, unsigned kind, uint64_t handle, int word, uint64_t value);

/* Sends a MARK that the caller is going to wait for. */
CUresult relay_send_awaited_mark(struct relay_context *context, uint64_t handle, int word, uint64_t value);

/*
 * As relay_send_awaited_mark(), after all work of a context, when the program ends: the executor first reports the
 * errors of that work. Waits for room in the ring until a time (monotonic_ns) at most; false: the mark was not sent.
 */
bool relay_send_last_mark(struct relay_context *context, int word, uint64_t value, uint64_t until_ns);

/* Sends a MARK of a stream or a WATCH_EVENT, and queries it: SUCCESS if it is already complete, else NOT_READY. */
CUresult relay_ask_mark(struct relay_context *context, unsigned kind, uint64_t handle, int word, uint64_t value);

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* One submission of the kind (TESSERA_KIND_*), for `tessera status`. */
static inline void relay_count(const struct relay_link *link, unsigned kind)
{
    struct tessera_thread *own = thread_slot;
    if (__builtin_expect(own != NULL, 1)) {
        uint64_t *submitted = &own->submitted[kind], *submissions = &own->device_submissions[link->device];
        __atomic_store_n(submitted, *submitted + 1, __ATOMIC_RELAXED);
        __atomic_store_n(submissions, *submissions + 1, __ATOMIC_RELAXED);
    } else { /* the thread's first submission, or a thread that shares its slot */
        struct tessera_thread *slot = thread_slot_take();
        __atomic_fetch_add(&slot->submitted[kind], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&slot->device_submissions[link->device], 1, __ATOMIC_RELAXED);
    }
}

#endif
