/* What the allocation hooks share: accounting, and the decision between plain and managed memory. */
#ifndef TESSERA_MEMORY_H
#define TESSERA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "direct/memory/allocations.h"
#include "driver/driver_types.h"

/* What new allocations on the device are made of. */
enum memory_form { MEMORY_DRIVERS, MEMORY_MANAGED, MEMORY_SWAPPED };
enum memory_form memory_form(unsigned device);

/* Whether new allocations on the device become managed memory. */
bool memory_managed(unsigned device);

/* Whether plan swap is in force on the device: asked for, and the device can do it. */
bool memory_mapped(unsigned device);

/* Whether new allocations on the device are made by plan swap. */
bool memory_swapped(unsigned device);

/*
 * Whether an allocation that plan swap refused becomes managed memory: under plan auto, what the device could never hold
 * at once beside the process's other memory.
 */
bool memory_overflows(unsigned device, uint64_t bytes);

/* From now on the process's allocations are left to the driver, for a reason of TESSERA_CHOICE_EXPORTED and _DEVICES. */
void memory_stay_plain(uint64_t reason);
bool memory_stays_plain(void);

/* Records an allocation whose bytes were taken with quota_take(); `context`: 0 if it outlives every context. */
void memory_record(enum allocation_space space, uint64_t key, uint64_t bytes, unsigned device, uint64_t context,
                   bool managed);

/* The same for plain memory that the driver holds: under plan swap it never moves, and counts as fixed. */
void memory_record_fixed(enum allocation_space space, uint64_t key, uint64_t bytes, unsigned device, uint64_t context);

/* Gives back what an allocation that was taken out counted for. */
void memory_forget(const struct allocation *allocation);

/* The current context, as an allocation's owner. */
uint64_t memory_context(void);

#endif
