/* Physical memory for chunks that a thread of the program needs: at once while the gate is open, else with the next turn. */
#ifndef TESSERA_SUPPLY_H
#define TESSERA_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/*
 * Makes a list of BUSY chunks (through their siblings) live: each is resident, or absent if the gate is closed and a
 * manager plans residency, so that it follows before the gate opens. Waits, bounded by TESSERA_MEMORY_WAIT_MS, for what
 * other clients must give up. On failure the chunks are settled and not live. Without the lock.
 */
CUresult supply_chunks(struct chunk *chunks);

/*
 * With the lock, which is released meanwhile: holds so many bytes more on the device, waiting for others to give them up
 * until until_ns at most, whatever the gate. False: they are not to be had. The caller lowers again.
 */
bool supply_room(unsigned device, uint64_t bytes, uint64_t until_ns);

#endif
