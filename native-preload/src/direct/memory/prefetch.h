/*
 * Plan managed at the start of a turn: what the program holds comes back in bulk, five times as fast as its kernels would
 * fault it in (H200: 51 against 10 GB/s), before the gate opens. Which allocations a kernel uses cannot be told without
 * a cost to every launch, so all count, the newest first, up to what the client may hold resident.
 */
#ifndef TESSERA_PREFETCH_H
#define TESSERA_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Drain thread, gate closed: fetches, for as long as `still` says that the order holds, and returns when what it asked
 * for is there. What the driver refuses is left to faults.
 */
void prefetch_turn(unsigned device, uint64_t word, bool (*still)(unsigned device, uint64_t word));

#endif
