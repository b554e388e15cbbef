/* Puts host memory on a device's own NUMA node, because copies from another node share the link between the sockets. */
#ifndef TESSERA_NUMA_H
#define TESSERA_NUMA_H

#include <stdint.h>

/*
 * Makes the kernel prefer the device's node for the pages of a new mapping (whole pages). If the node is unknown or the
 * kernel refuses, pages come from the node of the thread that touches them first. Any thread.
 */
void numa_prefer(unsigned device, void *memory, uint64_t bytes);

#endif
