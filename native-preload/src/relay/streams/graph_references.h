/*
 * What graphs keep alive on the client's side: words of host nodes, and user objects. Clones, instantiated graphs and
 * parents of child graphs hold what the graph held when they were made.
 */
#ifndef TESSERA_RELAY_GRAPH_REFERENCES_H
#define TESSERA_RELAY_GRAPH_REFERENCES_H

#include "relay/wire/relay.h"
#include "relay/streams/user_objects.h"

/* `holder`: the handle of a graph or an instantiated graph, a capture's key, or a context's handle. */

/* The holder keeps the word of a host node. False: no memory; the caller keeps it. */
bool graph_references_add_word(uint64_t holder, struct relay_link *link, int word);

/* The holder keeps `count` references to the object, which the caller gives it. */
bool graph_references_add_object(uint64_t holder, struct user_object *object, unsigned count);

/* Takes references to an object from the holder: how many there were, `count` at most. */
unsigned graph_references_remove_object(uint64_t holder, const struct user_object *object, unsigned count);

/* `to` also holds what `from` holds. */
CUresult graph_references_copy(uint64_t from, uint64_t to);

/* Moves what `from` holds to `to`, and forgets `from`. */
void graph_references_move(uint64_t from, uint64_t to);

/* Forgets the holder, and releases what no other holder has. */
void graph_references_end(uint64_t holder);

bool graph_references_any(uint64_t holder);

#endif
