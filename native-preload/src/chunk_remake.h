/* The physical memory of chunks made again, so that other processes can be given it: same addresses, same contents. */
#ifndef TESSERA_CHUNK_REMAKE_H
#define TESSERA_CHUNK_REMAKE_H

#include <stdint.h>

#include "chunks.h"
#include "driver_types.h"

/*
 * Of a block's chunks (through their siblings) that are BUSY by the caller, with memory, and not shareable yet. Waits, until
 * until_ns at most, for room for one more chunk, and for the program's work to end. Without a lock. OUT_OF_MEMORY: not in
 * time; STREAM_CAPTURE_UNSUPPORTED: the caller captures, so that its work cannot end; or an error of the driver: each chunk has its old memory, or its new one, with its contents.
 */
CUresult chunk_remake(struct chunk *chunks, uint64_t until_ns);

#endif
