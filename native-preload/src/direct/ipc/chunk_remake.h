/* Replaces the physical memory of chunks by exportable memory. Addresses and contents stay the same. Any thread. */
#ifndef TESSERA_CHUNK_REMAKE_H
#define TESSERA_CHUNK_REMAKE_H

#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/*
 * Creates exportable memory for a chunk of this many bytes. It counts as resident until chunk_remake() or
 * chunk_remake_drop() takes it. Waits for room until until_ns at most. The caller must have no chunk BUSY meanwhile: a
 * BUSY chunk cannot leave for other clients, and this may wait for them. Without a lock. OUT_OF_MEMORY: not in time.
 */
CUresult chunk_remake_memory(unsigned device, uint64_t bytes, uint64_t until_ns, unsigned long long *handle);
void chunk_remake_drop(unsigned device, uint64_t bytes, unsigned long long handle);

/*
 * Replaces the memory of one chunk by `memory`: of the first chunk in the list (linked by `sibling`) that the caller has
 * made BUSY and that is not shareable yet. Continues with the chunks behind it while there is room without a wait. Waits
 * until until_ns at most for the program's work to end. Takes ownership of `memory`. Without a lock. OUT_OF_MEMORY: not in
 * time. After an error of the driver each chunk has its contents, in its old memory or in the new memory.
 */
CUresult chunk_remake(struct chunk *chunks, unsigned long long memory, uint64_t until_ns);

#endif
