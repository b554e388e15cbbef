/*
 * The shared segment and the registration messages: the C twin of io.tessera.protocol.
 *
 * manager-daemon/protocol/SPEC.md describes both in prose and outranks this file; a parity test compares this header
 * with the Java layout field by field. Everything is little endian and naturally aligned.
 *
 * Ownership: the manager creates the segment; each field has exactly one writer, named beside it (M manager,
 * C client). A field that threads of the client share is written with atomic operations.
 */
#ifndef TESSERA_ABI_H
#define TESSERA_ABI_H

#include <stddef.h>
#include <stdint.h>

#define TESSERA_ABI_MAGIC 0x0041524553534554ULL /* "TESSERA\0" in memory order */
#define TESSERA_ABI_VERSION 1u
#define TESSERA_MESSAGE_MAGIC 0x41525354u /* "TSRA" in memory order */

#define TESSERA_MAX_DEVICES 16
#define TESSERA_MAX_THREADS 256
#define TESSERA_THREAD_COUNTERS 14
#define TESSERA_COUNTERS 128
#define TESSERA_ERROR_ENTRIES 64
#define TESSERA_ERROR_TEXT 216
#define TESSERA_LABEL 64
#define TESSERA_DEVICE_NAME 64
#define TESSERA_SEGMENT_BYTES 131072

/* Low byte of tessera_device.turn (M); the rest is the epoch, which grows by one at every write of the word. */
enum {
    TESSERA_TURN_CLOSED = 0,  /* the gate must close: drain, then acknowledge with this epoch */
    TESSERA_TURN_FREE = 1,    /* run freely beside others */
    TESSERA_TURN_GRANTED = 2, /* this client alone runs on the device */
};

/* Low byte of tessera_device.ack (C); the rest is the epoch of the turn word that it answers. */
enum {
    TESSERA_ACK_CLOSED = 0,   /* gate closed, nothing inside the driver, contexts idle */
    TESSERA_ACK_OPEN = 1,     /* gate open */
    TESSERA_ACK_DRAINING = 2, /* gate closed, work of the turn still running */
    TESSERA_ACK_RELEASED = 3, /* given back before it was asked for: closed and idle */
};

/* tessera_device.flags (M). */
enum {
    TESSERA_DEVICE_CONTENDED = 1, /* another client waits for this device: give the turn back when idle */
    TESSERA_DEVICE_SAMPLE = 2,    /* sample whether the device is busy with this client's work */
};

enum {
    TESSERA_PLAN_PLAIN = 0,
    TESSERA_PLAN_MANAGED = 1,
    TESSERA_PLAN_RELAY = 2, /* no context of its own: its calls go to executors */
    TESSERA_PLAN_SWAP = 3,  /* fixed addresses over physical memory that can be moved to the host and back */
};

/* One device of the client, in the client's own ordinal order. 512 bytes. */
struct tessera_device {
    /* 0: identity, C, before DEVICE is sent */
    uint8_t uuid[16];
    uint64_t total_bytes;
    uint32_t ordinal;
    uint32_t registered; /* M: 1 once the manager has taken the device */
    char name[TESSERA_DEVICE_NAME];
    uint8_t pad0[32];
    /* 128: orders, M */
    uint64_t turn;                   /* epoch << 8 | TESSERA_TURN_* */
    uint64_t quantum_ns;             /* length of a granted turn, for information */
    uint64_t pace_ns;                /* bound on outstanding work, as time to drain; 0: none */
    uint64_t idle_release_ns;        /* give a granted turn back after this long without work; 0: never */
    uint64_t flags;                  /* TESSERA_DEVICE_* */
    uint64_t limit_bytes;            /* the tenant's limit on this device; 0: none */
    uint64_t tenant_elsewhere_bytes; /* used by the tenant's other clients on this device */
    uint64_t granted_bytes;          /* C: what this client may use without asking; UINT64_MAX: no limit */
    uint8_t pad1[64];
    /* 256: the gate, C; read by every submission, so alone on its cache line */
    uint64_t gate; /* 1: submissions pass */
    uint8_t pad2[56];
    /* 320: answers, C */
    uint64_t ack;           /* epoch << 8 | TESSERA_ACK_* */
    uint64_t want_since_ns; /* CLOCK_MONOTONIC since when a thread waits at the gate; 0: none waits */
    uint64_t used_bytes;    /* device memory that counts against the limit */
    uint64_t peak_bytes;    /* highest used_bytes */
    uint64_t managed_bytes; /* of used_bytes: converted to managed memory */
    uint64_t turns;         /* turns taken */
    uint64_t drains;        /* gates closed after work */
    uint64_t drain_ns;      /* sum over drains: gate closed to contexts idle */
    uint64_t drain_max_ns;
    uint64_t drain_last_ns;
    uint64_t held_ns;      /* sum over turns: granted to given back */
    uint64_t wait_ns;      /* time in which at least one thread waited at the gate */
    uint64_t busy_samples; /* samples that found the device busy with this client's work */
    uint64_t samples;
    uint64_t contexts;  /* contexts of this client alive on the device */
    uint64_t capturing; /* stream captures open; a turn does not end while one is */
    uint8_t pad3[64];
};

/* Kinds of submission: index into tessera_thread.submitted. Never renumbered. */
enum {
    TESSERA_KIND_LAUNCH = 0,
    TESSERA_KIND_GRAPH_LAUNCH = 1,
    TESSERA_KIND_COPY = 2,
    TESSERA_KIND_MEMSET = 3,
    TESSERA_KIND_HOST_FUNCTION = 4,
    TESSERA_KIND_MEMORY_OP = 5, /* stream wait/write values, batches, external semaphores */
    TESSERA_KIND_PREFETCH = 6,  /* prefetch, discard, attach, sparse mapping, decompression */
    TESSERA_KIND_CAPTURE = 7,   /* stream captures begun: no work, but no turn ends inside one */
};

/* One thread of the client. 256 bytes; only its thread writes it, except the last slot (see SPEC.md). */
struct tessera_thread {
    uint32_t tid;     /* 0: free */
    uint32_t inside;  /* depth of submissions that are inside the driver now */
    uint32_t syncing; /* 1: inside a synchronisation */
    uint32_t pad;
    uint64_t submitted[TESSERA_THREAD_COUNTERS];
    uint64_t device_submissions[TESSERA_MAX_DEVICES];
};

/* Process-wide counters: index into tessera_segment.counters. Never renumbered. C, atomic. */
enum {
    TESSERA_COUNTER_ALLOCATIONS = 0,
    TESSERA_COUNTER_FREES = 1,
    TESSERA_COUNTER_LIMIT_REFUSALS = 2,      /* allocations refused by the tenant's limit */
    TESSERA_COUNTER_MANAGED_CONVERSIONS = 3, /* allocations turned into managed memory */
    TESSERA_COUNTER_MANAGED_FALLBACKS = 4,   /* allocations that plan managed left plain */
    TESSERA_COUNTER_EXPORTED = 5,            /* handles exported (IPC, shareable handles) */
    TESSERA_COUNTER_EXPORT_REFUSALS = 6,     /* exports refused because the memory is not the driver's own */
    TESSERA_COUNTER_VMM_CREATES = 7,         /* the program's own cuMemCreate */
    TESSERA_COUNTER_HOST_PINNED_BYTES = 8,
    TESSERA_COUNTER_LOOKUPS = 9,        /* cuGetProcAddress calls */
    TESSERA_COUNTER_SUBSTITUTIONS = 10, /* of them answered with a hook */
    TESSERA_COUNTER_SYNCHRONISATIONS = 11,
    TESSERA_COUNTER_SYNCHRONISE_NS = 12,
    TESSERA_COUNTER_GATE_WAITS = 13, /* submissions that found the gate closed */
    TESSERA_COUNTER_GATE_WAIT_NS = 14,
    TESSERA_COUNTER_PACE_WAITS = 15,
    TESSERA_COUNTER_PACE_WAIT_NS = 16,
    TESSERA_COUNTER_RECONNECTS = 17,
    TESSERA_COUNTER_UNGATED = 18, /* times that gates were opened because no manager answered */
    TESSERA_COUNTER_CAPTURES = 19,
    TESSERA_COUNTER_EARLY_RELEASES = 20,
    TESSERA_COUNTER_IMPORTED = 21,        /* handles imported (IPC, external memory) */
    TESSERA_COUNTER_UNTRACKED_FREES = 22, /* frees of memory whose allocation the library did not see */
};

/* tessera_residency.flags (M). */
enum {
    TESSERA_RESIDENCY_PARKED = 1,       /* evicted by hand, or because it was idle */
    TESSERA_RESIDENCY_CHECKPOINTED = 2, /* no driver call of the process returns until it is restored: ask at the gate */
    TESSERA_RESIDENCY_SHORT = 4,        /* what it needs is not available: calls at the gate are out of memory */
};

/*
 * tessera_segment.client_shares (C): what the driver's checkpoint would not restore, or not unchanged. A single share
 * counts until the process ends, because the library does not learn when the last user releases it.
 */
enum {
    TESSERA_SHARES_TAKEN = 1, /* the process has taken memory, or another object, of other processes or libraries */
    TESSERA_SHARES_GIVEN = 2, /* others may have its memory */
    TESSERA_SHARES_PIECES = 4, /* plan swap has taken physical memory of other clients: it is gone when all has moved out */
    TESSERA_SHARES_CALL = 256, /* each multiple counts a call in progress that may share memory */
};

/* tessera_residency.plan_choice (C). */
enum {
    TESSERA_CHOICE_AUTO = 1, /* the plan was left to the library: swap, unless one of the following says otherwise */
    TESSERA_CHOICE_UNMAPPED = 2, /* the device maps no memory, so none is swapped: managed */
    TESSERA_CHOICE_UNPAGED = 4,  /* nor does it page managed memory */
    TESSERA_CHOICE_EXPORTED = 8, /* the program exports memory that the plan cannot: new memory is the driver's */
    TESSERA_CHOICE_DEVICES = 16, /* the program uses several devices, or sees some that cannot reach each other: likewise */
};

/* tessera_residency.state (C). */
enum {
    TESSERA_RESIDENCY_STEADY = 0,
    TESSERA_RESIDENCY_MOVING_OUT = 1,
    TESSERA_RESIDENCY_MOVING_IN = 2,
    TESSERA_RESIDENCY_SUSPENDED = 3, /* the whole context is checkpointed to host memory */
};

/*
 * The client's residency on one device, in its own ordinal order; 512 bytes. All zero: no manager plans residency, or
 * the client's memory cannot move. A pair of target (M) and held (C) obeys the budget rule of SPEC.md, section 9.
 */
struct tessera_residency {
    /* 0: orders, M */
    uint64_t active;          /* 1: this manager plans residency on the device */
    uint64_t resident_target; /* what resident_bytes may grow to */
    uint64_t guarantee_bytes; /* never taken away from the client, for information */
    uint64_t pinned_target;   /* what pinned_held may grow to */
    uint64_t pageable_target; /* what pageable_held may grow to */
    uint64_t capacity_bytes;  /* of the device, as the client is to show it; 0: the device's own */
    uint64_t flags;           /* TESSERA_RESIDENCY_PARKED ... */
    uint64_t resident_limit; /* what resident_target can become at most, while others' fixed memory stays; 0: not known */
    /* 64: what is where, C */
    uint64_t resident_bytes;  /* movable memory on the device now, cached_bytes and copies in flight included */
    uint64_t needed_bytes;    /* must be resident before the gate opens */
    uint64_t swappable_bytes; /* live movable memory, on the device or not */
    uint64_t fixed_bytes;     /* never moves, beside resident_bytes: exported, imported, arrays, the driver's graphs */
    uint64_t cached_bytes;    /* of resident_bytes: without contents, given back as soon as it is asked for */
    uint64_t pinned_held;     /* host memory held as backing, used or not */
    uint64_t pageable_held;
    uint64_t file_held;
    /* 128: wishes, C */
    uint64_t pinned_wanted;    /* pinned_target that would do */
    uint64_t pageable_wanted;  /* pageable_target that would do beside pinned_target */
    uint64_t resident_wanted;  /* above resident_target: an allocation waits for the target to reach this; 0: none */
    uint64_t state;            /* TESSERA_RESIDENCY_STEADY ... */
    uint64_t swapped_bytes;    /* contents that are off the device */
    uint64_t guarantee_wanted; /* asked never to lose (TESSERA_MEMORY_GUARANTEE); 0: nothing */
    uint64_t file_limit;       /* what file_held may grow to */
    uint64_t plan_choice;      /* TESSERA_CHOICE_AUTO ...: what plan auto came to, and why */
    /* 192: counters since the start of the client, C */
    uint64_t moved_in_bytes;
    uint64_t moved_out_bytes;
    uint64_t move_in_ns; /* time in which at least one copy in that direction was under way */
    uint64_t move_out_ns;
    uint64_t moves_in;      /* times that moving in ended with all in */
    uint64_t moves_out;     /* times that moving out ended with the target reached */
    uint64_t move_failures; /* copies and mappings that failed; the state before stayed */
    uint64_t dropped_bytes; /* given back without a copy, since it had no contents */
    /* 256: what the device really has, C (SPEC.md, section 9.9) */
    uint64_t driver_free;    /* what the driver last said is free */
    uint64_t driver_free_ns; /* when; 0: not yet, or being written */
    uint64_t refusals;       /* times that the driver had no memory for a chunk */
    uint64_t refused_free;   /* what the driver said is free just before the last of these */
    uint64_t settled_chunks; /* came in, left or were given up so far */
    uint64_t claimed_bytes; /* needed of memory that cannot move, and not available while others hold the device full */
    uint64_t zero_bytes;    /* of needed_bytes: all zero when it was last looked at, so it need not travel */
    uint64_t clean_bytes; /* contents on the device of which the host has a copy, as of the last look; they need not leave */
    uint64_t spared_bytes;  /* counter: left the device without a copy, since it was zero or had not changed */
    uint64_t cleared_bytes; /* counter: came to the device without a copy, since it was zero */
    uint8_t reserved[176];
};

/* One distinct error: same code and text are counted, not repeated. 256 bytes. C. */
struct tessera_error {
    uint32_t ready; /* 1, release, once the entry can be read */
    int32_t code;   /* CUresult, or -errno */
    uint64_t count;
    uint64_t first_ns; /* CLOCK_REALTIME */
    uint64_t last_ns;
    uint8_t pad[8];
    char text[TESSERA_ERROR_TEXT]; /* UTF-8, NUL-terminated */
};

struct tessera_segment {
    /* 0: written once by the manager, the version last */
    uint64_t magic;
    uint32_t version; /* 0 until everything else is in place */
    uint32_t device_slots;
    uint64_t segment_bytes;
    uint64_t client_id;
    uint32_t client_pid; /* as the manager sees it (SO_PEERCRED) */
    uint32_t manager_pid;
    uint64_t client_start_ticks; /* field 22 of /proc/PID/stat */
    uint64_t manager_start_ns;   /* CLOCK_REALTIME */
    uint32_t plan;               /* TESSERA_PLAN_* */
    uint32_t thread_slots;
    /* 64: M, at least twice a second */
    uint64_t manager_heartbeat_ns; /* CLOCK_MONOTONIC */
    uint8_t pad0[56];
    /* 128: C, at least once a second while a context exists */
    uint64_t client_heartbeat_ns; /* CLOCK_MONOTONIC */
    uint64_t client_shares;       /* TESSERA_SHARES_TAKEN ...; each change atomic */
    uint8_t pad1[48];
    /* 192 */
    char tenant[TESSERA_LABEL];
    char command[TESSERA_LABEL];
    uint8_t pad2[3776];
    /* 4096 */
    struct tessera_device devices[TESSERA_MAX_DEVICES];
    /* 12288 */
    uint64_t counters[TESSERA_COUNTERS];
    uint8_t pad3[3072];
    /* 16384 */
    struct tessera_thread threads[TESSERA_MAX_THREADS];
    /* 81920 */
    struct tessera_error errors[TESSERA_ERROR_ENTRIES];
    /* 98304 */
    struct tessera_residency residency[TESSERA_MAX_DEVICES];
    /* 106496 */
    uint8_t reserved[24576];
};

/* Messages on the registration socket: SOCK_SEQPACKET, one message a packet, this header first. */
struct tessera_message {
    uint32_t magic;
    uint16_t type;
    uint16_t version; /* TESSERA_ABI_VERSION of the sender */
    uint32_t bytes;   /* of the whole message */
    uint32_t device;  /* slot that the message is about, where it is about one */
};

enum {
    TESSERA_MSG_HELLO = 1,
    TESSERA_MSG_WELCOME = 2,
    TESSERA_MSG_REFUSED = 3,
    TESSERA_MSG_DEVICE = 4,
    TESSERA_MSG_DOORBELL = 5,
    TESSERA_MSG_QUOTA_ASK = 6,
    TESSERA_MSG_QUOTA_ANSWER = 7,
    TESSERA_MSG_QUOTA_TRIM = 8,
    TESSERA_MSG_QUOTA_RETURN = 9,
    TESSERA_MSG_EXCHANGE = 10,
    TESSERA_MSG_SHARING_ASK = 11,
    TESSERA_MSG_SHARING = 12,
    TESSERA_MSG_SHORTAGE = 13,
};

struct tessera_hello {
    struct tessera_message head;
    uint32_t pid; /* in the client's own pid namespace; for information */
    uint32_t plan;
    uint64_t start_ticks;
    uint64_t limit_bytes; /* per device; 0: none asked for */
    char tenant[TESSERA_LABEL];
    char command[TESSERA_LABEL];
};

/* Carries the segment's file descriptor as SCM_RIGHTS. */
struct tessera_welcome {
    struct tessera_message head;
    uint64_t client_id;
    uint64_t segment_bytes;
};

enum {
    TESSERA_REFUSED_VERSION = 1,
    TESSERA_REFUSED_MALFORMED = 2,
    TESSERA_REFUSED_STORAGE = 3,
    TESSERA_REFUSED_PEER = 4,
    TESSERA_REFUSED_FULL = 5,
};

struct tessera_refused {
    struct tessera_message head;
    uint32_t code;
    uint32_t pad;
    char reason[232];
};

struct tessera_device_message {
    struct tessera_message head; /* head.device: slot */
    uint8_t uuid[16];
    uint64_t total_bytes;
    uint32_t ordinal;
    uint32_t pad;
    char name[TESSERA_DEVICE_NAME];
};

/* Words of the device changed and must be read again. Both directions. */
struct tessera_doorbell {
    struct tessera_message head;
};

/* ASK: bytes needed beyond granted_bytes. ANSWER: the new granted_bytes. RETURN: the lowered granted_bytes. TRIM: 0. */
struct tessera_quota {
    struct tessera_message head;
    uint64_t bytes;
};

/* Ends of a device's queue of handed memory. */
enum {
    TESSERA_EXCHANGE_GIVE = 0, /* descriptors of memory are sent into it */
    TESSERA_EXCHANGE_TAKE = 1, /* descriptors of memory are received from it */
    TESSERA_EXCHANGE_ENDS = 2,
};

/* Carries the end's descriptor as SCM_RIGHTS. */
struct tessera_exchange {
    struct tessera_message head; /* head.device: slot */
    uint32_t end;
    uint32_t pad;
};

/*
 * Sent instead of HELLO: asks which way of sharing this program should use. The manager answers and closes the
 * connection.
 */
struct tessera_sharing_ask {
    struct tessera_message head;
    char tenant[TESSERA_LABEL];
};

struct tessera_sharing {
    struct tessera_message head;
    uint32_t space; /* 1: by space, through executors; 0: by time, with a context of its own */
    uint32_t pad;
    char reason[232];
};

/* Sent when TESSERA_RESIDENCY_SHORT is set, for the program's user. */
struct tessera_shortage {
    struct tessera_message head; /* head.device: slot */
    char reason[232];
};

_Static_assert(sizeof(struct tessera_device) == 512, "device block");
_Static_assert(offsetof(struct tessera_device, turn) == 128, "orders");
_Static_assert(offsetof(struct tessera_device, gate) == 256, "gate");
_Static_assert(offsetof(struct tessera_device, ack) == 320, "answers");
_Static_assert(sizeof(struct tessera_thread) == 256, "thread slot");
_Static_assert(sizeof(struct tessera_error) == 256, "error entry");
_Static_assert(offsetof(struct tessera_segment, manager_heartbeat_ns) == 64, "manager heartbeat");
_Static_assert(offsetof(struct tessera_segment, devices) == 4096, "devices");
_Static_assert(offsetof(struct tessera_segment, counters) == 12288, "counters");
_Static_assert(offsetof(struct tessera_segment, threads) == 16384, "threads");
_Static_assert(offsetof(struct tessera_segment, errors) == 81920, "errors");
_Static_assert(sizeof(struct tessera_residency) == 512, "residency block");
_Static_assert(offsetof(struct tessera_residency, resident_bytes) == 64, "what is where");
_Static_assert(offsetof(struct tessera_residency, pinned_wanted) == 128, "wishes");
_Static_assert(offsetof(struct tessera_residency, moved_in_bytes) == 192, "move counters");
_Static_assert(offsetof(struct tessera_residency, driver_free) == 256, "residency, line of the driver");
_Static_assert(offsetof(struct tessera_segment, residency) == 98304, "residency");
_Static_assert(offsetof(struct tessera_segment, reserved) == 106496, "reserved");
_Static_assert(sizeof(struct tessera_segment) == TESSERA_SEGMENT_BYTES, "segment");
_Static_assert(sizeof(struct tessera_hello) == 168, "hello");
_Static_assert(sizeof(struct tessera_refused) == 256, "refused");

#endif
