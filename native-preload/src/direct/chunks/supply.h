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
 * With the lock, which is released meanwhile: raises what is held on the device by so many bytes. Waits until until_ns
 * at most for other clients to give memory up, also while the gate is closed. False: there is no such memory. The
 * caller lowers what is held afterwards.
 */
bool supply_room(unsigned device, uint64_t bytes, uint64_t until_ns);

#endif
