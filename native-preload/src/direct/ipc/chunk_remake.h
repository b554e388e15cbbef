/* The physical memory of chunks made again, so that other processes can be given it: same addresses, same contents. */
#ifndef TESSERA_CHUNK_REMAKE_H
#define TESSERA_CHUNK_REMAKE_H

#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/*
 * Gets physical memory for a chunk of so many bytes that is to be made again. It counts as resident until
 * chunk_remake() or chunk_remake_drop() takes it. Waits for room until until_ns at most. The caller must hold no chunk
 * meanwhile: a BUSY chunk cannot make room for other clients, whose memory may be waited for. Without a lock.
 * OUT_OF_MEMORY: not in time.
 */
CUresult chunk_remake_memory(unsigned device, uint64_t bytes, uint64_t until_ns, unsigned long long *handle);
void chunk_remake_drop(unsigned device, uint64_t bytes, unsigned long long handle);

/*
 * Of a block's chunks (through their siblings), makes the first one again that is BUSY by the caller, has memory, and
 * is not shareable yet, with the memory that was got for it. Goes on with the chunks behind it as far as there is room
 * at once. Waits until until_ns at most for the program's work to end. Without a lock. OUT_OF_MEMORY: not in time.
 * After an error of the driver each chunk has its contents, in its old memory or its new one.
 */
CUresult chunk_remake(struct chunk *chunks, unsigned long long memory, uint64_t until_ns);

#endif
