/* The physical memory of chunks made again, so that other processes can be given it: same addresses, same contents. */
#ifndef TESSERA_CHUNK_REMAKE_H
#define TESSERA_CHUNK_REMAKE_H

#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/*
 * Physical memory for a chunk of so many bytes that is to be made again: counted as resident, and given back by
 * chunk_remake() or chunk_remake_drop(). Waits for room, until until_ns at most; the caller must hold no chunk meanwhile:
 * what is BUSY cannot make room for others, who may be waited for. Without a lock. OUT_OF_MEMORY: not in time.
 */
CUresult chunk_remake_memory(unsigned device, uint64_t bytes, uint64_t until_ns, unsigned long long *handle);
void chunk_remake_drop(unsigned device, uint64_t bytes, unsigned long long handle);

/*
 * Makes the first of a block's chunks again (through their siblings) that is BUSY by the caller, with memory, and not
 * shareable yet, with the memory that was got for it; and those behind it as far as there is room at once. Waits, until
 * until_ns at most, for the program's work to end. Without a lock. OUT_OF_MEMORY: not in time; or an error of the driver:
 * each chunk has its old memory, or its new one, with its contents.
 */
CUresult chunk_remake(struct chunk *chunks, unsigned long long memory, uint64_t until_ns);

#endif
