/* Host memory on the side of the host that a device hangs on: from the other side copies share the link between sockets. */
#ifndef TESSERA_NUMA_H
#define TESSERA_NUMA_H

#include <stdint.h>

/*
 * Asks the system to take the pages of a fresh mapping (whole pages) from the device's node, as long as that has some.
 * Where the node is not known, or the system does not listen, they come from where the touching thread runs. Any thread.
 */
void numa_prefer(unsigned device, void *memory, uint64_t bytes);

#endif
