/* Shared by the entries that allocate: the form of new memory, and accounting. Any thread. */
#ifndef TESSERA_MEMORY_H
#define TESSERA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "direct/memory/allocations.h"
#include "driver/driver_types.h"

/* How new allocations on the device are made: by the driver, as managed memory, or by plan swap. */
enum memory_form { MEMORY_DRIVERS, MEMORY_MANAGED, MEMORY_SWAPPED };
enum memory_form memory_form(unsigned device);

/* Whether new allocations on the device become managed memory. */
bool memory_managed(unsigned device);

/* Whether plan swap is in force on the device: it was asked for, and the device supports it. */
bool memory_mapped(unsigned device);

/* Whether new allocations on the device are made by plan swap. */
bool memory_swapped(unsigned device);

/*
 * Whether an allocation that plan swap refused becomes managed memory: under plan auto, if the device could never hold
 * it beside the process's other memory.
 */
bool memory_overflows(unsigned device, uint64_t bytes);

/* From now on the driver makes the process's allocations; `reason`: TESSERA_CHOICE_EXPORTED or _DEVICES. */
void memory_stay_plain(uint64_t reason);
bool memory_stays_plain(void);

/* Records an allocation whose bytes were taken with quota_take(); `context`: 0 if it outlives every context. */
void memory_record(enum allocation_space space, uint64_t key, uint64_t bytes, unsigned device, uint64_t context,
                   bool managed);

/* As memory_record(), for memory that the driver allocated: it never moves, so under plan swap it counts as fixed. */
void memory_record_fixed(enum allocation_space space, uint64_t key, uint64_t bytes, unsigned device, uint64_t context);

/* Returns to the quota the bytes of an allocation that was removed from the table. */
void memory_forget(const struct allocation *allocation);

/* The current context, as owner of an allocation; 0: none. */
uint64_t memory_context(void);

#endif
