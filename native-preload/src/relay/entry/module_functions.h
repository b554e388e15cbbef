/* What export table 6e163fbe answers about modules. */
#ifndef TESSERA_RELAY_MODULE_FUNCTIONS_H
#define TESSERA_RELAY_MODULE_FUNCTIONS_H

#include <stdint.h>

#include "relay/wire/relay.h"

/*
 * Calls `visitor` (with, CUfunction, name, 0, 0) for each kernel of a module, in the context or, where it is NULL, in the
 * current one. How many there were; 0 for what is no module.
 */
uintptr_t module_each_function(CUcontext context, CUmodule module, void *visitor, void *with);

#endif
