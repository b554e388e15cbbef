/* Context-local storage: the functions of table c693336e, with the runtime's own signatures. */
#ifndef TESSERA_RELAY_STORAGE_H
#define TESSERA_RELAY_STORAGE_H

#include "relay/wire/relay.h"

typedef void (*storage_destructor)(CUcontext context, void *key, void *value);

/* A context of NULL is the current one. A key that is not there is INVALID_HANDLE. */
CUresult storage_put(CUcontext context, void *key, void *value, storage_destructor destroy);
CUresult storage_delete(CUcontext context, void *key);
CUresult storage_get(void **value, CUcontext context, void *key);

/* Runs the destructors of all that is stored for a context that ends. */
void storage_context_ended(struct relay_context *context);

/* In the child of a fork. */
void storage_forked(void);

#endif
