/* Modules of the program. */
#ifndef TESSERA_RELAY_MODULES_H
#define TESSERA_RELAY_MODULES_H

#include "relay/wire/relay.h"

/* Remembers a module that a call returned, so that its names are forgotten with its context. */
void module_known(struct relay_context *context, uint64_t module);

/* Finds a variable's address and size by its module or library (`owner`) and name. Asks the executor once, and adds a range. */
CUresult global_of(struct relay_context *context, unsigned entry, uint64_t owner, const char *name,
                   CUdeviceptr *pointer, size_t *bytes);

/* Forgets the modules of a context that ends. */
void relay_modules_context_ended(struct relay_context *context);

#endif
