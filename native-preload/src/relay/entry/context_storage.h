/* Context-local storage: the functions of table c693336e, with the runtime's own signatures. */
#ifndef TESSERA_RELAY_CONTEXT_STORAGE_H
#define TESSERA_RELAY_CONTEXT_STORAGE_H

#include "relay/wire/relay.h"

typedef void (*context_storage_destructor)(CUcontext context, void *key, void *value);

/* A context of NULL is the current one. A key that is not there is INVALID_HANDLE. */
CUresult context_storage_put(CUcontext context, void *key, void *value, context_storage_destructor destroy);
CUresult context_storage_delete(CUcontext context, void *key);
CUresult context_storage_get(void **value, CUcontext context, void *key);

/* Runs the destructors of all that is stored for a context that ends. */
void context_storage_context_ended(struct relay_context *context);

/* In the child of a fork. */
void context_storage_forked(void);

#endif
