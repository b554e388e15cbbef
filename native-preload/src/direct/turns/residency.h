/*
 * Memory of a device that this process holds and may hold: the client's side of struct tessera_residency (SPEC.md,
 * section 9). One lock guards all state of plan swap. It is held for bookkeeping only, never over a driver call, a
 * copy, or a wait for another process. Lock order: a turn's lock (turns.c) may be held when this lock is taken, not
 * vice versa.
 */
#ifndef TESSERA_RESIDENCY_H
#define TESSERA_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_UNIT (2u << 20) /* granularity of physical memory on every GPU that has it (checked at the first use) */
#define CHUNK_BYTES (64u << 20)

enum host_tier { TIER_PINNED, TIER_PAGEABLE, TIER_FILE, TIERS };

/* Of one device, bytes; guarded by the lock; told to the manager by residency_publish(). */
struct residency {
    uint64_t resident; /* on the device now: movable chunks, cached ones, and those that are being moved */
    uint64_t needed;   /* live movable chunks, wherever they are */
    uint64_t present;  /* of needed: resident and not being moved; the gate opens only when it equals needed */
    uint64_t fixed;
    uint64_t claimed; /* beside fixed: what the driver needs and cannot get while others hold the device full */
    uint64_t cached;
    uint64_t swapped; /* contents that are in host memory */
    uint64_t wanted;  /* sum of what allocations wait for, beyond resident */
    uint64_t held[TIERS];
    unsigned state;    /* TESSERA_RESIDENCY_* */
    uint64_t openings; /* times that the gate was opened to work */
    bool closed;       /* gate closed and drained: chunks may be moved; else all live ones are resident */
    bool used;         /* plan swap has allocated on the device */
};

/* The lock, and a condition that is signalled at every change somebody may wait for. */
void residency_lock(void);
void residency_unlock(void);
void residency_changed(void);
/* Waits with the lock for a change, at most until until_ns (CLOCK_MONOTONIC); false: that time has come. */
bool residency_wait(uint64_t until_ns);

/* With the lock. */
struct residency *residency_of(unsigned device);
void residency_publish(unsigned device);

/* With the lock: whether so much more live memory could ever be resident at once, as far as the manager says. */
bool residency_possible(unsigned device, uint64_t bytes);

/* Whether the manager has flagged that the process needs more of the device than it can get. Any thread. */
bool residency_short(unsigned device);

/* Whether a manager plans residency on the device now, and up to how much the process may hold resident. */
bool residency_planned(unsigned device);
uint64_t residency_target(unsigned device);
uint64_t residency_capacity(unsigned device); /* 0: the device's own */

/*
 * Bytes of the chunks that new memory of the device is cut into: CHUNK_BYTES, less on a device that is treated as small,
 * since two clients can only change places in what is free of it, chunk by chunk.
 */
uint64_t residency_chunk_size(unsigned device);

/* What the process has not taken yet of the device as it is treated. */
uint64_t residency_left(unsigned device, uint64_t total);
/*
 * The free memory that a program is told, from the driver's figure: memory of other clients that would be moved away
 * counts as free.
 */
uint64_t residency_free(unsigned device, uint64_t free_bytes, uint64_t total);

/* Memory that the driver holds and that cannot move (arrays, imports, graphs): so much more, or less. Without the lock. */
void residency_fixed_changed(unsigned device, int64_t by);

/* So much more is needed of memory that cannot move, and cannot be had now; or so much less. Without the lock. */
void residency_claim(unsigned device, int64_t by);

/* With the lock: holds so many bytes more, if the target allows it (budget rule); or so many less. */
bool residency_raise(unsigned device, uint64_t bytes);
void residency_lower(unsigned device, uint64_t bytes);
/* With the lock: memory that the process has already counts as movable again, whatever the target. */
void residency_regain(unsigned device, uint64_t bytes);
bool residency_raise_host(unsigned device, enum host_tier tier, uint64_t bytes);
void residency_lower_host(unsigned device, enum host_tier tier, uint64_t bytes);
uint64_t residency_host_target(unsigned device, enum host_tier tier);

/* Adds to one of the block's counters, told by its offset in struct tessera_residency. Any thread. */
void residency_count(unsigned device, uint64_t offset, uint64_t amount);
#define RESIDENCY_COUNT(device, field, amount)                                                                         \
    residency_count((device), offsetof(struct tessera_residency, field), (amount))

/* For turns.c, with the device's turn lock. The device's gate is closed and drained: */
void residency_drained(unsigned device);
/* The gate is about to open: true if all is resident; from then on nothing moves until residency_drained(). */
bool residency_open(unsigned device);
/* First context: the gate starts open, or closed. */
void residency_begin(unsigned device, bool closed);

/* Orders may have changed: wakes whoever waits for them. Any thread, without a turn's lock. */
void residency_orders(unsigned device);

/* In the child of a fork: nothing is allocated. */
void residency_forked(void);

#endif
