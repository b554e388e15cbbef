/*
 * Memory of graph allocation nodes. It comes and goes with launches, inside the driver, so it is read off rather than
 * hooked: once such a node was seen, the reserved bytes are asked for once a second and count as used.
 */
#ifndef TESSERA_GRAPH_MEMORY_H
#define TESSERA_GRAPH_MEMORY_H

/* An allocation node was added or captured. Any thread. */
void graph_memory_seen(void);

/* Reads the device's graph memory, at most once a second. Drain thread. */
void graph_memory_poll(unsigned device);

/*
 * Drain thread, with all work of the device done: under plan swap the driver gives back what its graphs hold without
 * use, and the rest counts as fixed.
 */
void graph_memory_drained(unsigned device);

#endif
