/*
 * Residency: how much memory of each device this process holds and may hold; the client's side of struct
 * tessera_residency (SPEC.md, section 9). One lock, "residency's lock", guards all state of plan swap. It is held for
 * bookkeeping only, never during a driver call, a copy, or a wait for another process. Lock order: turn lock (turns.c),
 * then this lock. Any thread may call these functions.
 */
#ifndef TESSERA_RESIDENCY_H
#define TESSERA_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_UNIT (2u << 20)    /* granularity of physical memory; memory_mapped() checks that the device has it */
#define CHUNK_BYTES (256u << 20) /* at most */
#define CHUNK_UNITS (CHUNK_BYTES / CHUNK_UNIT)

/* One bit for each CHUNK_UNIT of a chunk, the lowest for the first. */
__extension__ typedef unsigned __int128 unit_mask;

enum host_tier { TIER_PINNED, TIER_PAGEABLE, TIER_FILE, TIERS };

/* Sums of one device, in bytes. Guarded by the lock; residency_publish() writes them to the segment. */
struct residency {
    uint64_t resident; /* on the device now: live, cached and moving chunks */
    uint64_t needed;   /* all live chunks that can move, resident or absent */
    uint64_t present;  /* the part of `needed` that is resident and not moving; if both are equal, the gate can open */
    uint64_t fixed;
    uint64_t claimed; /* what the driver needs beside `fixed` and cannot get, because other clients fill the device */
    uint64_t cached;
    uint64_t looked; /* the part of `needed` that was examined when it last left */
    uint64_t zero;   /* the part of `looked` that was all zero then */
    uint64_t blank; /* the part of `needed` that was not accessible since it was allocated: no contents; 0 while the gate is open */
    uint64_t unseen; /* the part of `needed` that is never examined, or could not be when it was to leave: all counts */
    uint64_t clean;  /* contents on the device of which the backing has a copy, as of the last look */
    uint64_t swapped; /* contents in the backing alone */
    uint64_t wanted;  /* what allocations wait for, beyond `resident` */
    uint64_t held[TIERS];
    unsigned state;    /* TESSERA_RESIDENCY_* */
    uint64_t openings; /* how often the gate was opened */
    bool closed;       /* gate closed and drained, so chunks may move; else all live chunks are resident */
    bool used;         /* plan swap has allocated on the device */
};

/* The lock, and residency_changed(), which wakes all threads in residency_wait(). */
void residency_lock(void);
void residency_unlock(void);
void residency_changed(void);
/*
 * With the lock, which is released meanwhile: waits for a change until until_ns (CLOCK_MONOTONIC). False: time is up.
 */
bool residency_wait(uint64_t until_ns);

/* With the lock. */
struct residency *residency_of(unsigned device);
void residency_publish(unsigned device);

/* With the lock: records a sample of how much of the memory on the device is not zero: `filled` of `of` bytes. */
void residency_sampled(unsigned device, uint64_t filled, uint64_t of);
/*
 * With the lock: the part of `needed` that is assumed to be zero. While the gate is open, the program changes its
 * memory, so the sample alone determines it. Otherwise it is known for examined memory and for memory that the program
 * could not write yet, and estimated from the sample for the rest. Memory that cannot be examined counts as contents.
 */
uint64_t residency_zero(unsigned device);

/* With the lock: the host memory needed for all contents that are known, and for a part of the memory that was zero so far. */
uint64_t residency_backing_needed(unsigned device);

/* With the lock: whether this many more live bytes could ever be resident at once, by the manager's limits. */
bool residency_possible(unsigned device, uint64_t bytes);

/* Whether the manager has flagged that the process needs more memory on the device than it can get. */
bool residency_short(unsigned device);

/* Whether a manager plans residency on the device, and the bytes that the process may hold resident. */
bool residency_planned(unsigned device);
uint64_t residency_target(unsigned device);
uint64_t residency_capacity(unsigned device); /* bytes of the device that the manager distributes; 0: all */

/*
 * The size of new chunks on the device: CHUNK_BYTES, or less on a device with a small capacity, because clients change
 * places chunk by chunk in the memory that is free.
 */
uint64_t residency_chunk_size(unsigned device);

/* The device's capacity (at most `total`) less what the process needs and holds fixed. */
uint64_t residency_left(unsigned device, uint64_t total);
/*
 * The free memory to report to a program; memory of other clients that would move away counts as free. `free_bytes` and
 * `total` are the driver's figures.
 */
uint64_t residency_free(unsigned device, uint64_t free_bytes, uint64_t total);

/* Adds to the fixed bytes that the driver holds (arrays, imports, graphs), or subtracts. Without the lock. */
void residency_fixed_changed(unsigned device, int64_t by);

/* Adds to the claim for fixed memory that cannot be allocated now, or subtracts. Without the lock. */
void residency_claim(unsigned device, int64_t by);

/* With the lock: adds to what is held, if the target allows it (budget rule; else false), or subtracts. */
bool residency_raise(unsigned device, uint64_t bytes);
void residency_lower(unsigned device, uint64_t bytes);
/* With the lock: memory that the process holds counts as movable again, whatever the target is. */
void residency_regain(unsigned device, uint64_t bytes);
bool residency_raise_host(unsigned device, enum host_tier tier, uint64_t bytes);
void residency_lower_host(unsigned device, enum host_tier tier, uint64_t bytes);
uint64_t residency_host_target(unsigned device, enum host_tier tier);

/* Adds to the counter at this byte offset in struct tessera_residency. */
void residency_count(unsigned device, uint64_t offset, uint64_t amount);
#define RESIDENCY_COUNT(device, field, amount)                                                                         \
    residency_count((device), offsetof(struct tessera_residency, field), (amount))

/* For turns.c, with the device's turn lock: the gate is closed and drained. */
void residency_drained(unsigned device);
/* Before the gate opens. True: all is resident, and nothing moves until residency_drained(). */
bool residency_open(unsigned device);
/* At the first context: whether the gate starts closed. */
void residency_begin(unsigned device, bool closed);

/* Orders may have changed: wakes threads in residency_wait(). Without a turn's lock. */
void residency_orders(unsigned device);

/* In the child of a fork: nothing is allocated. */
void residency_forked(void);

#endif
