/*
 * The file that a program's memory was mapped from: libraries carry hundreds of megabytes of device code in theirs.
 */
#ifndef TESSERA_RELAY_IMAGE_FILE_H
#define TESSERA_RELAY_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether all of the memory is, byte for byte, a part of one file: then `file` is a descriptor of it, opened to read, which
 * the caller closes, and `offset` says where the part begins. Costs some system calls, and a comparison of all bytes only
 * where the kernel does not tell whether the program has written to the mapping.
 */
bool image_file_find(const void *address, size_t bytes, int *file, uint64_t *offset);

#endif
