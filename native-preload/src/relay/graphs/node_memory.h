/* Memory that answers about graph nodes point to: it belongs to the node, and the next answer replaces it. */
#ifndef TESSERA_RELAY_NODE_MEMORY_H
#define TESSERA_RELAY_NODE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Room of a node, in place of what it had; NULL: no memory. */
void *node_memory(uint64_t node, size_t bytes);

/* The node is destroyed. */
void node_memory_forget(uint64_t node);

#endif
