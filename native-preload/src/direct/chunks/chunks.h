/*
 * Chunks: device memory in pieces of at most 256 MiB, each moved as a whole. The addresses of a chunk stay the same
 * while its physical memory is released and created again. What that costs depends little on the size: on an H200, giving
 * up 1 GiB and making it again takes 2.2 ms in pieces of 64 MiB, and 1.2 ms in pieces of 256 MiB. 256 MiB take 5 ms of bus
 * time (55 GB/s). Devices with less memory have smaller chunks, so that memory is handed over evenly.
 *
 * Residency's lock guards all fields, except those of a BUSY chunk: they belong to the thread that made it BUSY, and no
 * other thread frees or moves it meanwhile.
 */
#ifndef TESSERA_CHUNKS_H
#define TESSERA_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/arena.h"
#include "direct/chunks/backing.h"
#include "direct/chunks/content.h"
#include "driver/driver_types.h"

enum chunk_state {
    CHUNK_ABSENT, /* no physical memory */
    CHUNK_RESIDENT,
    CHUNK_BUSY, /* a thread creates, moves, or releases its memory */
};

/* An address at which a chunk is mapped, and the devices that may read and write it there: one bit for each. */
struct chunk_view {
    struct chunk_view *next;
    CUdeviceptr address;
    uint32_t readable, writable;
};

struct chunk {
    struct chunk *previous, *next; /* in the device's list, in the order of allocation */
    struct chunk *sibling;         /* the next chunk of the same block or handle */
    struct chunk_view *views;
    const struct arena *arena;                             /* which parts have contents; NULL: all */
    const struct driver_allocation_properties *properties; /* of the program's own memory; NULL: ordinary */
    struct backing_piece *backing; /* host memory: contents off the device, or a copy of what is on it; NULL: none */
    struct content *content;       /* what is known of its parts; NULL: nothing, so all of them count */
    unsigned long long handle;     /* the driver's; 0: no physical memory */
    int descriptor;                /* of handed memory (exchange.h); -1: the driver created it for this process */
    uint64_t bytes;
    uint64_t empty_since; /* value of `openings` when it lost its contents; from the next opening on it may have some */
    uint64_t retry_ns;    /* not moved before this time, since the last move failed */
    uint8_t device;
    uint8_t state;
    bool away;      /* its contents are off the device: in the backing, and zero where the record says so */
    bool live;      /* the program may use it: resident whenever the gate is open */
    bool fixed;     /* never moved */
    bool stuck;     /* has contents and no address, so it cannot be copied; not moved until it has an address */
    bool untouched; /* was never accessible, so it has no contents */
    bool unseen;    /* could not be examined when it was to leave, so all of it counts as contents */
    bool shareable; /* its physical memory can be given to other processes (exportable.h) */
};

/* With the lock: creates a chunk: BUSY, not live, without physical memory, in its device's list. NULL: no memory. */
struct chunk *chunk_new(unsigned device, uint64_t bytes);
/* With the lock: deletes a chunk that has no physical memory any more, with its views and its backing. */
void chunk_forget(struct chunk *chunk);

/* With the lock: adds an address, at which chunk_fill() maps the chunk from now on. False: no memory for the record. */
bool chunk_add_view(struct chunk *chunk, CUdeviceptr address, uint32_t readable, uint32_t writable);

/* With the lock: whether the program may have written into the memory that the chunk has now. */
bool chunk_contents(const struct chunk *chunk);
/*
 * With the lock, between chunk_change_begin() and chunk_change_end(): the memory has no contents until the gate opens. If the gate is
 * open, it counts as having contents at once.
 */
void chunk_set_empty(struct chunk *chunk);

/* Bytes of its contents that are not known to be zero. */
uint64_t chunk_content_bytes(const struct chunk *chunk);
/* With the lock: gives the chunk's host memory back; its contents, if any, are on the device. */
void chunk_drop_copy(struct chunk *chunk);
/* With the lock: as chunk_drop_copy(); also forgets what is known of its parts. */
void chunk_forget_content(struct chunk *chunk);
/*
 * With the lock: as chunk_forget_content(), for a chunk that could not be examined. Samples of other chunks do not
 * apply to it.
 */
void chunk_set_unseen(struct chunk *chunk);
/* Whether such a chunk is never examined: small allocations share it, or it is too large. */
bool chunk_never_seen(const struct chunk *chunk);

/* With the lock: removes the view at an address that is no longer mapped. False: the chunk has no view there. */
bool chunk_remove_view(struct chunk *chunk, CUdeviceptr address);
/* The view at the address; NULL: none. */
struct chunk_view *chunk_view_at(const struct chunk *chunk, CUdeviceptr address);
/* Maps the chunk's memory at a view and sets the access. The chunk is BUSY, or this view was never mapped. */
CUresult chunk_map_view(const struct chunk *chunk, const struct chunk_view *view);

/*
 * With the lock, which is not released in between: brackets a change of fields that the device's sums (struct residency)
 * depend on. The chunk is in no sum meanwhile.
 */
void chunk_change_begin(const struct chunk *chunk);
void chunk_change_end(const struct chunk *chunk);

/* With the lock: waits, releasing it, until the chunk is not BUSY. */
void chunk_settle(const struct chunk *chunk);

/* BUSY chunk, without the lock: gives it physical memory, mapped and accessible at all its views; all or nothing. */
CUresult chunk_fill(struct chunk *chunk);
/* BUSY chunk, without the lock: releases its memory. After an error of the driver it is mapped as before. */
CUresult chunk_empty(struct chunk *chunk);

/* Sets the access of a view that is mapped. The chunk is BUSY. */
CUresult chunk_apply_access(const struct chunk *chunk, const struct chunk_view *view);

/* Removes the access of the devices in the mask. The chunk is BUSY. */
CUresult chunk_deny_access(const struct chunk *chunk, const struct chunk_view *view, uint32_t devices);

/* An address at which the chunk's own device may read and write it; 0: none. */
CUdeviceptr chunk_address(const struct chunk *chunk);

/* With the lock: the device's first chunk, in the order of allocation. */
struct chunk *chunk_first(unsigned device);

enum chunk_search { SEARCH_OUT, SEARCH_IN, SEARCH_CLEARED, SEARCH_COPY, SEARCHES };
/*
 * With the lock: the next chunk that `fits`, in the order of allocation; NULL: there is none. A search continues where
 * the last search of its kind ended, so a move of all chunks visits each chunk once.
 */
struct chunk *chunk_search(unsigned device, enum chunk_search kind, bool (*fits)(const struct chunk *, uint64_t),
                           uint64_t now_ns);

/* Devices that may access memory of the device, itself included; the program sets them (swap_peer_access()). */
uint32_t chunk_peers(unsigned device);
void chunk_set_peers(unsigned device, uint32_t peers);

/* Whether memory of the device can be exported as file descriptors, by the driver's attribute. */
bool chunk_shareable_supported(unsigned device);

/*
 * As chunk_shareable_supported(), but tested by creating exportable memory once, because the attribute does not show
 * what a container forbids. If that succeeds, all ordinary memory of the device's chunks is created exportable from
 * now on. It is not created so from the start, because most programs never export, and some drivers refuse exportable
 * memory. Its cost is the same (tests/gpu/FINDINGS.md, "Memory shared by legacy IPC"). A context of the device should be
 * current.
 */
bool chunk_shareable(unsigned device);

/* The properties of ordinary memory on the device. */
struct driver_allocation_properties chunk_properties(unsigned device, bool shareable);

/* In the child of a fork. */
void chunks_forked(void);

#endif
