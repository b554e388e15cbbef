/*
 * The relay port, from inside: what its files use of each other. RELAY.md describes the protocol; exported entries are
 * the functions relay_NAME, generated (relay_stubs.c) or written by hand in the file named after their subject.
 *
 * A link is the connection to the executor of one device. A context is the program's: made, stacked and told apart here,
 * known to the executor by its number. Every function may be called by any thread unless it says otherwise.
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

/* CUresult values beyond those in driver_types.h. */
enum {
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT = 202,
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
};

/* ---- Links (link.c) ---------------------------------------------------------------------------------------------- */

struct relay_link {
    struct tessera_relay_segment *segment; /* mapped for the life of the process once the link is up */
    unsigned device;  /* ordinal in this program: index into relay_links */
    unsigned number;  /* the manager's number of the device: bits 36 to 39 of the executor's handles */
    int socket;       /* the executor's; -1: none any more */
    uint64_t looked_ns; /* when the silent executor's process was looked at */
    uint32_t lost;    /* 1: the executor is gone; every call answers CONTEXT_IS_DESTROYED */
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

/* The link whose executor gave out the handle; NULL: it is no handle, or of no link. */
struct relay_link *relay_link_of(uint64_t handle);

/* 0, or why this link serves nobody any more: context_error, or CONTEXT_IS_DESTROYED. A few loads. */
CUresult relay_link_state(struct relay_link *link);

/* context_error, else the first error of records without a reply, taken. For calls that may report earlier errors. */
CUresult relay_take_error(struct relay_link *link);

/* Puts an error that the client itself found out late where relay_take_error finds it. */
void relay_put_error(struct relay_link *link, CUresult error);

/* 0 once cuInit has succeeded in this process, else NOT_INITIALIZED or DEINITIALIZED. */
CUresult relay_started(void);

/* ---- Contexts (context.c) ---------------------------------------------------------------------------------------- */

struct relay_context {
    CUcontext handle;        /* what the program holds */
    struct relay_link *link;
    uint16_t number;         /* in record headers */
    bool primary;
    bool alive;              /* false: destroyed; the structure stays, so that a stale handle is told from garbage */
    unsigned flags;          /* CUctx_flags */
    unsigned version;        /* cuCtxGetApiVersion */
    unsigned retained;       /* primary: cuDevicePrimaryCtxRetain less Release */
    uint64_t id;             /* cuCtxGetId */
    unsigned generation;     /* grows whenever the context ends: what was made in an earlier one is gone */
    int cache_config;
    int shared_config;
};

/* The calling thread's current context; NULL: none. */
extern __thread struct relay_context *relay_current __attribute__((tls_model("initial-exec")));

/* The error of an entry that finds no usable context: not started, none current, destroyed, or its link's state. */
CUresult relay_no_context(void);

/* The current context, ready for a call: 0, or the error to return. */
static inline CUresult relay_enter(struct relay_context **context)
{
    struct relay_context *current = relay_current;
    *context = current;
    if (__builtin_expect(!current || !__atomic_load_n(&current->alive, __ATOMIC_RELAXED), 0))
        return relay_no_context();
    const struct tessera_relay_segment *segment = current->link->segment;
    if (__builtin_expect(__atomic_load_n(&segment->context_error, __ATOMIC_RELAXED) != 0 ||
                         __atomic_load_n(&current->link->lost, __ATOMIC_RELAXED) != 0, 0))
        return relay_link_state(current->link);
    return CUDA_SUCCESS;
}

/* The context that a program's handle names; NULL as handle: the current one. NULL: there is none such. */
struct relay_context *relay_context_of(CUcontext handle);

/* The primary context of a link, active or not. */
struct relay_context *relay_primary(struct relay_link *link);

/*
 * Called when a context ends, before the executor is told, for what the other files hold of it. In this order:
 * streams.c, graphs, modules ... implement theirs; context-local storage and ranges are done by context.c.
 */
void relay_streams_context_ended(struct relay_context *context);
void relay_modules_context_ended(struct relay_context *context);

/* ---- Records (ring.c) -------------------------------------------------------------------------------------------- */

struct relay_claimed {
    struct tessera_record *record; /* NULL: the link is lost */
    int32_t length;
};

/*
 * Claims room for a record with `bytes` after its header and fills the header in, all but the length. Waits while the
 * ring is full, but not for an executor that is gone. What is written after the record's header until commit is read
 * once; the room is zeroed, so padding need not be written.
 */
struct relay_claimed relay_claim(struct relay_link *link, unsigned kind, size_t bytes);

/* Makes the record visible and wakes the executor if it sleeps. */
void relay_commit(struct relay_link *link, struct relay_claimed claimed);

static inline void *relay_body(struct relay_claimed claimed)
{
    return claimed.record + 1;
}

/* ---- Calls (call.c, reply.c) ------------------------------------------------------------------------------------- */

/* One slot for the time of one call. */
struct relay_slot {
    struct tessera_reply *reply;
    unsigned index; /* the record's slot is index + 1 */
};

/* Takes a slot, the calling thread's last one if it is free; waits, bounded by the executor's life. False: lost. */
bool relay_slot_take(struct relay_link *link, struct relay_slot *slot);

/* Announces one more record that is answered into this slot. Before its commit. */
void relay_slot_expect(struct relay_slot *slot);

/* Waits for the answer: the executor's result, or why there is none. reply->bytes of out-data are at reply + 1. */
CUresult relay_slot_wait(struct relay_link *link, struct relay_slot *slot);

void relay_slot_give(struct relay_link *link, struct relay_slot *slot);

/* A question to the executor: `bytes` of out-data at most are copied to `out` (the rest of it is zeroed). */
CUresult relay_query(struct relay_link *link, unsigned query, uint64_t value, void *out, size_t bytes);

/* ---- Words (word.c) ---------------------------------------------------------------------------------------------- */

/*
 * A completion word of one's own; its value is what it was left at, so values must go on growing. -1: no more than `leave` are
 * left. Streams and staging, of which there are few (1,024 streams, 2 more for each of 256 contexts), leave none; all else leaves theirs.
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

/* Waits until the word has reached the value: spins, yields, then sleeps 50 us at a time. 0, or the link's state. */
CUresult relay_wait_word(struct relay_link *link, int word, uint64_t value);

/* Sends MARK, WATCH_EVENT or HOST_CALL. Nothing comes back. */
CUresult relay_send_mark(struct relay_context *context, unsigned kind, uint64_t handle, int word, uint64_t value);

/* Sends a MARK that the caller is going to wait for. */
CUresult relay_send_awaited_mark(struct relay_context *context, uint64_t handle, int word, uint64_t value);

/* The same for a MARK of a stream or a WATCH_EVENT, and asks: SUCCESS if it is complete already, else NOT_READY. */
CUresult relay_ask_mark(struct relay_context *context, unsigned kind, uint64_t handle, int word, uint64_t value);

/* ---- Streams, as copies need them (streams.c) -------------------------------------------------------------------- */

/*
 * What travels for a stream that the program names: 0 for the legacy stream, the per-thread stream's handle (made at a
 * thread's first use), or the handle itself. per_thread: the entry's stream 0 is the per-thread one (_ptsz, _ptds).
 */
CUresult relay_stream_wire(struct relay_context *context, CUstream stream, bool per_thread, uint64_t *wire);

/* Work was submitted to the stream: a completion that was seen before no longer stands. After the record's commit. */
void relay_stream_submitted(struct relay_context *context, uint64_t wire);

/* As cuCtxSynchronize. */
CUresult relay_context_wait(struct relay_context *context);

/* As cuStreamSynchronize: waits for all that was submitted, and returns what it ended with. */
CUresult relay_stream_wait(struct relay_context *context, uint64_t wire);

/* Whether the stream is being captured. */
bool relay_stream_capturing(struct relay_context *context, uint64_t wire);

/* ---- Addresses (range.c) ----------------------------------------------------------------------------------------- */

enum relay_range_kind {
    RELAY_RANGE_NONE = 0,
    RELAY_RANGE_DEVICE = 1,     /* cuMemAlloc and its like */
    RELAY_RANGE_POOL = 2,       /* cuMemAllocAsync, cuMemAllocFromPoolAsync */
    RELAY_RANGE_RESERVED = 3,   /* cuMemAddressReserve: mappings lie inside */
    RELAY_RANGE_MAPPED = 4,     /* cuMemMap */
    RELAY_RANGE_PINNED = 5,     /* host memory that both sides map */
    RELAY_RANGE_REGISTERED = 6, /* cuMemHostRegister: host memory that the executor does not see */
    RELAY_RANGE_GLOBAL = 7,     /* a module's variable: cuModuleGetGlobal, cuLibraryGetGlobal */
    RELAY_RANGE_OPENED = 8,     /* another process's: cuIpcOpenMemHandle */
};

struct relay_range {
    uint64_t start;
    uint64_t bytes;
    enum relay_range_kind kind;
    unsigned flags;          /* of the call that made it (cuMemHostAlloc, cuMemHostRegister) */
    struct relay_link *link;
    struct relay_context *context; /* NULL: of none (pools, mappings) */
    uint64_t id;             /* PINNED: the executor's id, or RELAY_PINNED_SMALL; MAPPED: the allocation handle; POOL: the pool */
    uint64_t serial;         /* BUFFER_ID */
};

/* No id of the executor's: part of a chunk (pinned_small.c). */
#define RELAY_PINNED_SMALL 0

/* Adds a range, replacing one of the same kind with the same start. False: no memory. */
bool relay_range_add(const struct relay_range *range);

/* Whether memory of another device's executor is known to lie somewhere there. */
bool relay_range_foreign(const struct relay_link *link, uint64_t start, uint64_t bytes);

/* Takes out the range that starts there; false: there is none of this kind. `removed` may be NULL. */
bool relay_range_remove(uint64_t start, enum relay_range_kind kind, struct relay_range *removed);

/* The range that holds the address, the innermost one (a mapping before its reservation). */
bool relay_range_find(uint64_t address, struct relay_range *found);

/* Whether anything known lies between the two addresses. */
bool relay_range_overlaps(uint64_t start, uint64_t bytes);

/* Forgets all ranges of a context; what was pinned in it is given back. */
void relay_range_context_ended(struct relay_context *context);
void range_forked(void);

/* Whether the range is the device's own memory, not the host's. */
static inline bool relay_range_device_side(const struct relay_range *range)
{
    return range->kind != RELAY_RANGE_PINNED && range->kind != RELAY_RANGE_REGISTERED;
}

/* ---- Memory that both sides see (pinned.c) ----------------------------------------------------------------------- */

struct relay_pinned {
    uint64_t id;
    void *address; /* the same on the device */
    uint64_t bytes;
};

CUresult relay_pin(struct relay_link *link, uint64_t bytes, struct relay_pinned *pinned);
CUresult relay_unpin(struct relay_link *link, const struct relay_pinned *pinned);

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* One submission of the kind (TESSERA_KIND_*), for `tessera status`. */
static inline void relay_count(const struct relay_link *link, unsigned kind)
{
    struct tessera_thread *slot = thread_slot ? thread_slot : thread_slot_take();
    if (__builtin_expect(thread_slot_shared(slot), 0)) {
        __atomic_fetch_add(&slot->submitted[kind], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&slot->device_submissions[link->device], 1, __ATOMIC_RELAXED);
    } else {
        __atomic_store_n(&slot->submitted[kind], slot->submitted[kind] + 1, __ATOMIC_RELAXED);
        uint64_t *submissions = &slot->device_submissions[link->device];
        __atomic_store_n(submissions, *submissions + 1, __ATOMIC_RELAXED);
    }
}

/*
 * A call that the relay cannot serve: counted by name in the error log, and the user is told in a line, once for each
 * reason. Always NOT_SUPPORTED.
 */
CUresult relay_refuse(const char *entry, const char *why);

/* The same without a line: a question, whose asker does without where the answer is NOT_SUPPORTED. */
CUresult relay_decline(const char *entry, const char *why);

/* A bound of the library's own: OUT_OF_MEMORY, with a line for the user. `said` is the caller's, one for each bound. */
CUresult relay_bound(int *said, const char *line);

/* The same of a list of functions that no reply carries. */
CUresult relay_too_many_functions(void);

#endif
