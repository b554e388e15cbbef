/*
 * Chunks: physical memory in pieces of at most 64 MiB, each mapped at addresses that stay the same while the memory behind
 * them comes and goes. 64 MiB is a millisecond of bus time on an H200 (55 GB/s), so a hand-over is spread evenly, and
 * mapping it (some 60 us) is lost in the copy.
 *
 * All fields are guarded by residency's lock, but for those of a chunk that is BUSY: they belong to the thread that made it
 * so, and nobody else frees or moves it meanwhile.
 */
#ifndef TESSERA_CHUNKS_H
#define TESSERA_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/arena.h"
#include "direct/chunks/backing.h"
#include "driver/driver_types.h"

enum chunk_state {
    CHUNK_ABSENT, /* no physical memory: contents, if any, are in the backing */
    CHUNK_RESIDENT,
    CHUNK_BUSY, /* some thread creates, moves, or gives back its memory */
};

/* Where a chunk is mapped, and which devices may read and write it there: one bit each. */
struct chunk_view {
    struct chunk_view *next;
    CUdeviceptr address;
    uint32_t readable, writable;
};

struct chunk {
    struct chunk *previous, *next; /* of the device, in the order of allocation */
    struct chunk *sibling;         /* the next one of the same block or handle */
    struct chunk_view *views;
    const struct arena *arena;                             /* which parts have contents; NULL: all */
    const struct driver_allocation_properties *properties; /* of the program's own memory; NULL: ordinary */
    struct backing_piece *backing;                         /* contents in host memory */
    unsigned long long handle;                             /* the driver's; 0: no physical memory */
    int descriptor; /* of memory that another process has handed on; -1: its own */
    uint64_t bytes;
    uint64_t empty_since; /* opening of the gate after which it has contents of its own (chunk_contents()) */
    uint64_t retry_ns;    /* not moved before: the last try failed */
    uint8_t device;
    uint8_t state;
    bool live;      /* the program may use it: resident whenever the gate is open */
    bool fixed;     /* never moved */
    bool stuck;     /* has contents and no address, so it cannot be copied: not moved until it has one */
    bool untouched; /* was never accessible: has no contents */
    bool shareable; /* its physical memory can be given to other processes (exportable.h) */
};

/* With the lock: a chunk that is BUSY, without memory and not live, in the list of its device; NULL: no memory. */
struct chunk *chunk_new(unsigned device, uint64_t bytes);
/* With the lock: out of all lists. It has no physical memory any more; its views and backing are given back. */
void chunk_forget(struct chunk *chunk);

/* With the lock: maps it at one more address from the next chunk_fill() on. False: no memory for the record. */
bool chunk_add_view(struct chunk *chunk, CUdeviceptr address, uint32_t readable, uint32_t writable);

/* With the lock: whether the program may have written into the memory that the chunk has now. */
bool chunk_contents(const struct chunk *chunk);
/* With the lock: it has none yet; while the gate is open it gets some at once. */
void chunk_set_empty(struct chunk *chunk);

/* With the lock: removes the view at the address, which is not mapped any more. False: the chunk has no view there. */
bool chunk_remove_view(struct chunk *chunk, CUdeviceptr address);
/* The view at the address; NULL: none. */
struct chunk_view *chunk_view_at(const struct chunk *chunk, CUdeviceptr address);
/* Maps what the chunk has at a view, and takes it away again. The chunk is BUSY, or this view was never mapped. */
CUresult chunk_map_view(const struct chunk *chunk, const struct chunk_view *view);

/* With the lock: brackets a change of fields, so that the device's sums follow. */
void chunk_change_begin(const struct chunk *chunk);
void chunk_change_end(const struct chunk *chunk);

/* With the lock: waits, releasing it, until the chunk is not BUSY. */
void chunk_settle(const struct chunk *chunk);

/* Of a BUSY chunk, without the lock: gives it physical memory, mapped and accessible at all its views; all or nothing. */
CUresult chunk_fill(struct chunk *chunk);
/* Of a BUSY chunk, without the lock: takes the memory away. On an error of the driver it is as before. */
CUresult chunk_empty(struct chunk *chunk);

/* Sets the access of a view that is mapped. The chunk is BUSY. */
CUresult chunk_apply_access(const struct chunk *chunk, const struct chunk_view *view);

/* Takes the access of the devices in the mask away. The chunk is BUSY. */
CUresult chunk_deny_access(const struct chunk *chunk, const struct chunk_view *view, uint32_t devices);

/* Of a BUSY chunk with memory: an address at which its device may read and write it; 0: none. */
CUdeviceptr chunk_address(const struct chunk *chunk);

/* With the lock: the chunks of a device in the order of allocation. */
struct chunk *chunk_first(unsigned device);

enum chunk_search { SEARCH_OUT, SEARCH_IN, SEARCHES };
/*
 * With the lock: a chunk that `fits`, in the order of allocation; NULL: there is none. The search goes on where the
 * last search of its kind ended, so a move of all chunks looks at each one once.
 */
struct chunk *chunk_search(unsigned device, enum chunk_search kind, bool (*fits)(const struct chunk *, uint64_t),
                           uint64_t now_ns);

/* Devices that may use memory of the device as the program has asked for (swap_peer_access()), itself included. */
uint32_t chunk_peers(unsigned device);
void chunk_set_peers(unsigned device, uint32_t peers);

/* Whether the device's memory can be given to other processes as file descriptors, as the driver says. */
bool chunk_shareable_supported(unsigned device);

/*
 * The same, found by creating such memory once: attributes do not show what a container forbids. If it works, all
 * ordinary memory of the device's chunks is created exportable from now on. It is not from the start, because most
 * programs never export, and some drivers refuse such memory. To create, map and write it takes as long as for other
 * memory (tests/gpu/RESULTS.md). A context of the device should be current.
 */
bool chunk_shareable(unsigned device);

/* The properties of ordinary memory on the device. */
struct driver_allocation_properties chunk_properties(unsigned device, bool shareable);

/* In the child of a fork. */
void chunks_forked(void);

#endif
