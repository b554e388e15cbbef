/* Context-local storage: the functions of table c693336e, with the runtime's own signatures. */
#ifndef TESSERA_RELAY_STORAGE_H
#define TESSERA_RELAY_STORAGE_H

#include "tessera_entries.h"

typedef void (*storage_destructor)(CUcontext context, void *key, void *value);

/* A context of NULL is the current one. A key that is not there is INVALID_HANDLE. */
CUresult storage_put(CUcontext context, void *key, void *value, storage_destructor destroy);
CUresult storage_delete(CUcontext context, void *key);
CUresult storage_get(void **value, CUcontext context, void *key);

#endif
