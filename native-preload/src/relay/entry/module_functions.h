/* The function of export table 6e163fbe that lists the kernels of a module. */
#ifndef TESSERA_RELAY_MODULE_FUNCTIONS_H
#define TESSERA_RELAY_MODULE_FUNCTIONS_H

#include <stdint.h>

#include "relay/wire/relay.h"

/*
 * Calls `visitor` (with, CUfunction, name, 0, 0) for each kernel of a module, in the context or, if it is NULL, in the
 * current one. Returns the number of kernels; 0 if the handle is not a module.
 */
uintptr_t module_each_function(CUcontext context, CUmodule module, void *visitor, void *with);

#endif
