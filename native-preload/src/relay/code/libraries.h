/*
 * Libraries and their kernels, which belong to no context. A program's CUlibrary is the handle of the device on which
 * it was loaded first; other devices load it at its first use there.
 */
#ifndef TESSERA_RELAY_LIBRARIES_H
#define TESSERA_RELAY_LIBRARIES_H

#include "relay/wire/relay.h"

/* Finds the executor's CUkernel on the context's device for a program's CUkernel. */
CUresult kernel_on(struct relay_context *context, uint64_t kernel, uint64_t *there);

#endif
