/* Physical memory for chunks that a thread of the program needs: at once while the gate is open, else with the next turn. */
#ifndef TESSERA_SUPPLY_H
#define TESSERA_SUPPLY_H

#include "chunks.h"
#include "driver_types.h"

/*
 * Makes a list of BUSY chunks (through their siblings) live: each is resident, or absent if the gate is closed and a
 * manager plans residency, so that it follows before the gate opens. Waits, bounded by TESSERA_MEMORY_WAIT_MS, for what
 * other clients must give up. On failure the chunks are settled and not live. Without the lock.
 */
CUresult supply_chunks(struct chunk *chunks);

#endif
