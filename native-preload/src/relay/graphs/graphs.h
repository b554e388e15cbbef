/* What the files on graphs share. */
#ifndef TESSERA_RELAY_GRAPHS_H
#define TESSERA_RELAY_GRAPHS_H

#include "relay/wire/relay.h"

/* Enters the current context and checks the type of `handle`: 0, the context's error, or INVALID_VALUE. */
CUresult graph_enter(struct relay_context **context, const void *handle, unsigned type);

#endif
