/*
 * The relay segment and the executor's messages: the C twin of io.tessera.protocol.relay.
 *
 * manager-daemon/protocol/RELAY.md describes both in prose and outranks this file; a parity test compares this header
 * with the Java layout field by field. Little endian, naturally aligned. Writers: E executor, C client, G the device.
 */
#ifndef TESSERA_RELAY_H
#define TESSERA_RELAY_H

#include <stddef.h>
#include <stdint.h>

#include "tessera_abi.h"

#define TESSERA_RELAY_MAGIC 0x0059414c45525354ULL /* "TSRELAY\0" in memory order */
#define TESSERA_RELAY_VERSION 2u

#define TESSERA_RELAY_RING_BYTES 1048576u  /* a power of two */
#define TESSERA_RELAY_RECORD_MAX 131072u   /* longest record, header included */
#define TESSERA_RELAY_INLINE_MAX 65536u    /* in-data that travels inside a CALL; more goes ahead in BULK records */
#define TESSERA_RELAY_BULK_MAX 2147483648u /* in-data of one call */
#define TESSERA_RELAY_SLOTS 64u            /* reply slots: calls of one client that wait at the same time */
#define TESSERA_RELAY_SLOT_BYTES 65536u
#define TESSERA_RELAY_REPLY_MAX (TESSERA_RELAY_SLOT_BYTES - 64u) /* out-data of one reply */
#define TESSERA_RELAY_WORDS 16384u                               /* completion words */
#define TESSERA_RELAY_PRINT_BYTES 262144u     /* device printf on its way to the client; a power of two */
#define TESSERA_RELAY_NOTICE_BYTES 2048u      /* sentences for the user of a client */
#define TESSERA_RELAY_ATTRIBUTES 256u         /* device attributes by CUdevice_attribute */
#define TESSERA_RELAY_LIMITS 32u              /* context limits by CUlimit */
#define TESSERA_RELAY_FUNCTION_ATTRIBUTES 32u /* function attributes by CUfunction_attribute */
#define TESSERA_RELAY_PARAMETERS 1024u        /* parameters of one kernel */

/* What a record is. Never renumbered. */
enum {
    TESSERA_RELAY_PADDING = 0,     /* to the end of the ring */
    TESSERA_RELAY_CALL = 1,        /* a driver entry with its arguments */
    TESSERA_RELAY_LAUNCH = 2,      /* a kernel launch */
    TESSERA_RELAY_BULK = 3,        /* a piece of the in-data of the CALL that follows from the same slot */
    TESSERA_RELAY_MARK = 4,        /* write a word when a stream, or all of a context, has reached this record */
    TESSERA_RELAY_WATCH_EVENT = 5, /* write a word when an event is complete */
    TESSERA_RELAY_HOST_CALL = 6,   /* the stream writes 1 to a word and waits until the client has put 0 there */
    TESSERA_RELAY_CONTEXT = 7,     /* a context of the client is created or destroyed */
    TESSERA_RELAY_QUERY = 8,       /* asks for what only the executor knows */
};

/* Flags of a record. */
enum {
    TESSERA_RELAY_FLAG_BULK = 1,        /* CALL: all in-data came ahead in BULK records with the same slot */
    TESSERA_RELAY_FLAG_COOPERATIVE = 2, /* LAUNCH */
    TESSERA_RELAY_FLAG_WAITED = 4,      /* MARK without a slot: the sender waits for it now */
    TESSERA_RELAY_FLAG_LAST = 8, /* with WAITED: the program ends, and shows the lines that are written before the word */
};

/* First bytes of every record; records begin at multiples of 16. */
struct tessera_record {
    int32_t length;   /* bytes with this header; negative while it is written; 0: not claimed yet */
    uint16_t kind;    /* TESSERA_RELAY_* */
    uint16_t entry;   /* CALL: index of the driver entry, as in the description; QUERY: TESSERA_QUERY_* */
    uint32_t slot;    /* reply slot + 1; 0: no reply */
    uint16_t context; /* the client's context that the record belongs to; 0: none */
    uint16_t flags;
};

/*
 * CALL: after the header one u64 an argument, in order. Values as the ABI widens them, handles as the executor gave
 * them out; a pointer is 0 (null) or 1<<63 | out bytes<<32 | in bytes. Then the in-data of all pointers in order, each
 * padded to 8. Answer: the out-data of all pointers in order, each padded to 8. Values that are structures count as
 * pointers with in-data.
 */

/* LAUNCH: after the header this, then the attributes (CUlaunchAttribute as in cuda.h), then the packed parameters. */
struct tessera_launch {
    uint64_t function;
    uint64_t stream;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t attributes;
    uint32_t parameter_bytes;
    uint32_t pad;
};

/* BULK: after the header this, then the bytes. */
struct tessera_bulk {
    uint32_t offset; /* must equal the bytes sent so far */
    uint32_t bytes;
};

/* MARK with stream TESSERA_RELAY_ALL_STREAMS means all streams of the record's context. */
#define TESSERA_RELAY_ALL_STREAMS UINT64_MAX
struct tessera_mark {
    uint64_t handle; /* stream (MARK), event (WATCH_EVENT), stream (HOST_CALL) */
    uint64_t value;  /* what is written (MARK, WATCH_EVENT) */
    uint32_t word;
    uint32_t pad;
};

/* CONTEXT. */
enum {
    TESSERA_CONTEXT_CREATE = 1,  /* context: a number that the client chose, not in use */
    TESSERA_CONTEXT_DESTROY = 2, /* everything made in it is freed; answered when that is done */
};
struct tessera_context_change {
    uint32_t change;
    uint32_t flags; /* CUctx_flags */
};

/* QUERY: after the header one u64, mostly a handle; the answer's out-data is the structure named. */
enum {
    TESSERA_QUERY_FUNCTION = 1, /* of a CUfunction or CUkernel: struct tessera_function_info */
    TESSERA_QUERY_PINNED = 2,   /* id of a PINNED answer: pins it; u64 device address */
    TESSERA_QUERY_UNPIN = 3,    /* id: unpins and forgets it */
    TESSERA_QUERY_MEMORY = 4,   /* struct tessera_memory_info */
};

struct tessera_parameter {
    uint32_t offset;
    uint32_t size;
};

/* Only the parameters in use are sent. */
struct tessera_function_info {
    int32_t attributes[TESSERA_RELAY_FUNCTION_ATTRIBUTES];
    uint64_t function; /* handle of the CUfunction behind it */
    uint32_t valid;    /* bit i: attributes[i] holds */
    uint32_t parameter_bytes;
    uint32_t prints; /* the module can call vprintf: synchronising must bring its output */
    uint32_t parameters;
    struct tessera_parameter parameter[TESSERA_RELAY_PARAMETERS];
};

struct tessera_memory_info {
    uint64_t free_bytes; /* as the tenant may see it: within its limit */
    uint64_t total_bytes;
    uint64_t used_bytes; /* by this client */
};

/* One reply slot: this header, then out-data. A thread takes a slot for the time of one call. */
struct tessera_reply {
    uint32_t sequence; /* E: the record's number; futex. The client waits until it is what it expects. */
    uint32_t expected; /* C: the number of the last record sent from this slot */
    int32_t result;    /* E: CUresult */
    uint32_t bytes;    /* E: out-data */
    uint32_t waiting;  /* C: 1 while it sleeps in the futex */
    uint8_t pad[44];
};

/* Properties of the device that a program reads without a call to the executor. E, before the version. */
struct tessera_relay_device {
    uint8_t uuid[16];
    char name[256];
    char pci_bus_id[32];
    uint64_t total_bytes; /* as the tenant may see it */
    int32_t driver_version;
    int32_t least_priority;
    int32_t greatest_priority;
    uint32_t software; /* 1: the software GPU */
    uint8_t luid[8];
    uint32_t node_mask;
    uint32_t has_luid;
    int32_t attributes[TESSERA_RELAY_ATTRIBUTES];
    uint8_t attribute_valid[TESSERA_RELAY_ATTRIBUTES];
    uint64_t limits[TESSERA_RELAY_LIMITS];
    uint32_t limit_valid; /* bit i: limits[i] holds */
    uint32_t cache_config;
    uint64_t exec_affinity_sms;
};

struct tessera_relay_segment {
    /* 0: written once, the version last. E */
    uint64_t magic;
    uint32_t version;
    uint32_t executor_pid;
    uint64_t segment_bytes;
    uint64_t client_id;
    uint32_t ring_bytes;
    uint32_t slots;
    uint32_t words;
    uint32_t entries; /* driver entries of the executor's description */
    uint8_t pad0[16];
    /* 64: E, at least twice a second */
    uint64_t executor_heartbeat_ns; /* CLOCK_MONOTONIC */
    int32_t context_error;          /* not 0: the context is lost, and every call returns this from now on */
    uint32_t ended;                 /* 1: the executor has ended this client */
    uint8_t pad1[48];
    /* 128: E */
    uint64_t consumed; /* ring position up to which records are read and zeroed */
    uint8_t pad2[56];
    /* 192: E; futex: 1 while the executor sleeps */
    uint32_t parked;
    int32_t call_error; /* the first error of records without a reply; the client takes it by exchanging 0 */
    uint8_t pad3[56];
    /* 256: C */
    uint64_t claimed; /* ring position up to which records are claimed */
    uint8_t pad4[56];
    /* 320: device printf. E writes, C reads */
    uint64_t printed;
    uint8_t pad5[56];
    uint64_t print_taken; /* C */
    uint8_t pad6[56];
    uint64_t client_heartbeat_ns; /* C */
    uint8_t pad7[56];
    uint32_t notice_bytes; /* E: of `notice`; only grows */
    uint32_t time_share;   /* E: 1: the program should start again in time sharing; looked at after a failed call */
    uint8_t pad8[56];
    char notice[TESSERA_RELAY_NOTICE_BYTES]; /* E: lines for the user, shown after a failed call; after a byte 1 as they are */
    uint8_t pad10[1472];
    /* 4096 */
    struct tessera_relay_device device;
    uint8_t pad9[4096 - sizeof(struct tessera_relay_device)];
    /* 8192 */
    uint8_t print[TESSERA_RELAY_PRINT_BYTES];
    uint64_t word[TESSERA_RELAY_WORDS]; /* G, E, C as the record says */
    uint8_t ring[TESSERA_RELAY_RING_BYTES];
    uint8_t reply[TESSERA_RELAY_SLOTS][TESSERA_RELAY_SLOT_BYTES]; /* struct tessera_reply, out-data */
};

/*
 * Handles that an executor returns: they look like canonical user addresses, but are not addresses. type<<40 |
 * device<<36 | index<<4.
 */
#define TESSERA_HANDLE_TAG 0x600000000000ULL /* bits 46 and 45 */
enum {
    TESSERA_HANDLE_CONTEXT = 1,
    TESSERA_HANDLE_STREAM = 2,
    TESSERA_HANDLE_EVENT = 3,
    TESSERA_HANDLE_MODULE = 4,
    TESSERA_HANDLE_FUNCTION = 5,
    TESSERA_HANDLE_LIBRARY = 6,
    TESSERA_HANDLE_KERNEL = 7,
    TESSERA_HANDLE_POOL = 8,
    TESSERA_HANDLE_ALLOCATION = 9, /* CUmemGenericAllocationHandle */
    TESSERA_HANDLE_ARRAY = 10,
    TESSERA_HANDLE_MIPMAP = 11,
    TESSERA_HANDLE_TEXTURE = 12,
    TESSERA_HANDLE_SURFACE = 13,
    TESSERA_HANDLE_TEXREF = 14,
    TESSERA_HANDLE_SURFREF = 15,
    TESSERA_HANDLE_GRAPH = 16,
    TESSERA_HANDLE_GRAPH_NODE = 17,
    TESSERA_HANDLE_GRAPH_EXEC = 18,
    TESSERA_HANDLE_LINKER = 19,
    TESSERA_HANDLE_USER_OBJECT = 20,
    TESSERA_HANDLE_GREEN_CONTEXT = 21,
    TESSERA_HANDLE_RESOURCE = 22,
};

/* Messages on an executor's socket: SOCK_SEQPACKET, tessera_message first, magic and rules as in SPEC.md. */
enum {
    TESSERA_MSG_RELAY_ASK = 16,     /* client to manager: asks for its executors, with its fence settings */
    TESSERA_MSG_RELAY_ANSWER = 17,  /* manager to client: one of them; head.device: its number */
    TESSERA_MSG_RELAY_HELLO = 18,   /* client to executor */
    TESSERA_MSG_RELAY_WELCOME = 19, /* executor to client (+ descriptor of the segment) */
    TESSERA_MSG_PIN = 20,           /* client to executor: memory that both map */
    TESSERA_MSG_PINNED = 21,        /* executor to client (+ descriptor, unless result is not 0) */
    TESSERA_MSG_IMAGE = 22,         /* client to executor (+ descriptor of a file): a module image in it */
    TESSERA_MSG_IMAGE_TAKEN = 23,   /* executor to client: its number */
};

/* How the accesses of a tenant's kernels are kept inside its window; 0: the manager's default. */
enum {
    TESSERA_FENCE_MASK = 1,
    TESSERA_FENCE_MODULO = 2,
    TESSERA_FENCE_CHECK = 3,
};

/* What happens to images that cannot be fenced; 0: the manager's default. In the order of what they allow. */
enum {
    TESSERA_UNFENCED_REFUSE = 1,
    TESSERA_UNFENCED_TIME = 2,
    TESSERA_UNFENCED_TRUSTED = 3,
    TESSERA_UNFENCED_OWN = 4,
};

struct tessera_relay_ask {
    struct tessera_message head;
    uint32_t fence;            /* TESSERA_FENCE_* */
    uint32_t unfenced;         /* TESSERA_UNFENCED_* */
    uint32_t fence_alone;      /* 1: also while the tenant is alone on the device */
    uint32_t kernel_timeout_s; /* a kernel that runs longer is ended; 0: the manager's default */
};

#define TESSERA_RELAY_TOKEN 16
#define TESSERA_RELAY_WAIT 0xffffffffu
struct tessera_relay_answer {
    struct tessera_message head;
    uint32_t count; /* devices in all; 0: none, and the reason says why; WAIT: the answer comes later, likewise */
    uint32_t software;
    uint8_t uuid[16];
    uint8_t token[TESSERA_RELAY_TOKEN]; /* proves to the executor that the manager has announced the client */
    char socket[104];                   /* path, as sun_path */
    char reason[200];
};

struct tessera_relay_hello {
    struct tessera_message head;
    uint8_t token[TESSERA_RELAY_TOKEN];
};

struct tessera_relay_welcome {
    struct tessera_message head;
    uint64_t client_id;
    uint64_t segment_bytes;
};

struct tessera_pin {
    struct tessera_message head;
    uint64_t bytes;
    uint64_t not_below; /* addresses tried before were taken in the client: propose one from here on; 0: any */
};

/* Both processes map it at `address`; then QUERY_PINNED registers it with the device. */
struct tessera_pinned {
    struct tessera_message head;
    uint64_t id;
    uint64_t address;
    uint64_t bytes;
    int32_t result; /* CUresult */
    uint32_t pad;
};

/* An image that a call will name by a number: bytes of the file from an offset on. */
struct tessera_image {
    struct tessera_message head;
    uint64_t offset;
    uint64_t bytes;
};

struct tessera_image_taken {
    struct tessera_message head;
    uint64_t number; /* good for one call */
    int32_t result;  /* CUresult; not 0: there is no number, the image has to travel */
    uint32_t pad;
};

/* In-data that replaces an image of which the executor has a file. */
/*
 * The contents of a CUipcMemHandle or CUipcEventHandle of a relayed client: good for clients of the same tenant on the
 * same executor, as long as the exporter has the object.
 */
struct tessera_ipc_handle {
    uint64_t magic;    /* TESSERA_RELAY_IPC_MAGIC */
    uint64_t executor; /* a number that another executor does not have */
    uint64_t key[2];   /* random */
    uint64_t bytes;    /* of the allocation; checked by the executor */
    uint64_t zero[3];
};

#define TESSERA_RELAY_IPC_MAGIC 0x4350495354ull /* "TSIPC" in memory order */
#define TESSERA_RELAY_IMAGE_MAGIC 0x4d495354u   /* "TSIM" in memory order */
struct tessera_image_reference {
    uint32_t magic;
    uint32_t pad;
    uint64_t number;
};

_Static_assert(sizeof(struct tessera_record) == 16, "record");
_Static_assert(sizeof(struct tessera_launch) == 56, "launch");
_Static_assert(sizeof(struct tessera_reply) == 64, "reply");
_Static_assert(offsetof(struct tessera_relay_segment, executor_heartbeat_ns) == 64, "heartbeat");
_Static_assert(offsetof(struct tessera_relay_segment, consumed) == 128, "consumed");
_Static_assert(offsetof(struct tessera_relay_segment, parked) == 192, "parked");
_Static_assert(offsetof(struct tessera_relay_segment, claimed) == 256, "claimed");
_Static_assert(offsetof(struct tessera_relay_segment, printed) == 320, "printed");
_Static_assert(offsetof(struct tessera_relay_segment, notice) == 576, "notice");
_Static_assert(offsetof(struct tessera_relay_segment, device) == 4096, "device");
_Static_assert(offsetof(struct tessera_relay_segment, print) == 8192, "print");
_Static_assert(offsetof(struct tessera_relay_segment, word) % 4096 == 0, "words are registered with the device");
_Static_assert(offsetof(struct tessera_relay_segment, ring) % 4096 == 0, "ring");
_Static_assert(sizeof(struct tessera_relay_segment) % 4096 == 0, "segment");

#endif
