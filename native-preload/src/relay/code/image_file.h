/*
 * The file that a program's memory was mapped from. Libraries have hundreds of megabytes of device code in their files.
 */
#ifndef TESSERA_RELAY_IMAGE_FILE_H
#define TESSERA_RELAY_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether all of the memory is, byte for byte, a part of one file. Then `file` is a descriptor for reading, which the
 * caller closes, and `offset` is where the part begins. Costs some system calls. All bytes are compared only if the
 * kernel does not tell whether the program has written to the mapping.
 */
bool image_file_find(const void *address, size_t bytes, int *file, uint64_t *offset);

#endif
