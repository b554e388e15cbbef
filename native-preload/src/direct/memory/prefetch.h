/*
 * Plan managed at the start of a turn: the program's memory is fetched in bulk before the gate opens. That is five
 * times as fast as faults of its kernels (H200: 51 against 10 GB/s). To find the allocations that a kernel uses would
 * cost time at every launch. So all allocations are fetched, the newest first, up to what the client may hold.
 */
#ifndef TESSERA_PREFETCH_H
#define TESSERA_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Turns thread, gate closed: fetches as long as `still` says that the order holds, and returns when the fetched memory
 * is resident. Memory that the driver refuses to fetch is left to faults.
 */
void prefetch_turn(unsigned device, uint64_t word, bool (*still)(unsigned device, uint64_t word));

#endif
