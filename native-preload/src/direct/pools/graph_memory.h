/*
 * Memory of graph allocation nodes. The driver allocates and frees it at launches, without a call of the program. So
 * once such a node was seen, the library queries the reserved bytes once a second and counts them as used.
 */
#ifndef TESSERA_GRAPH_MEMORY_H
#define TESSERA_GRAPH_MEMORY_H

/* Records that an allocation node was added or captured. Any thread. */
void graph_memory_seen(void);

/* Queries the device's graph memory, at most once a second. Turns thread. */
void graph_memory_poll(unsigned device);

/*
 * Under plan swap, makes the driver release unused graph memory; the rest counts as fixed. Turns thread, when all work of
 * the device is complete.
 */
void graph_memory_drained(unsigned device);

#endif
