/* Provides physical memory for new chunks of the program: at once while the gate is open, else with the next turn. */
#ifndef TESSERA_SUPPLY_H
#define TESSERA_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/*
 * Makes a list of BUSY chunks (linked by `sibling`) live. Each becomes resident; if the gate is closed and a manager
 * plans residency, it may stay absent, and memory comes before the gate opens. Waits, bounded by
 * TESSERA_MEMORY_WAIT_MS, for memory that other clients must release. On failure the chunks are settled and not live.
 * Without the lock.
 */
CUresult supply_chunks(struct chunk *chunks);

/*
 * With the lock, which is released meanwhile: raises what is held on the device by this many bytes. Waits until
 * until_ns at most for other clients to release memory, also while the gate is closed. False: not in time. The caller
 * lowers what is held when it needs the memory no longer.
 */
bool supply_room(unsigned device, uint64_t bytes, uint64_t until_ns);

#endif
