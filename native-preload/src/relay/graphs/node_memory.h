/*
 * Memory behind the pointers in a node's parameters that a query returned. It belongs to the node; the next query
 * replaces it.
 */
#ifndef TESSERA_RELAY_NODE_MEMORY_H
#define TESSERA_RELAY_NODE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Allocates a node's memory and frees its former memory. NULL: no memory. */
void *node_memory(uint64_t node, size_t bytes);

/* The node is destroyed. */
void node_memory_forget(uint64_t node);

#endif
