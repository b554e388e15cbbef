/* The vendor's driver library: found, opened by absolute path, and asked for its entries. */
#ifndef TESSERA_DRIVER_H
#define TESSERA_DRIVER_H

#include <stdbool.h>

/* The vendor's library (dlopen handle), opened at the first call; NULL: there is none. Holds no lock over dlopen. */
void *driver_handle(void);

/* Called by the lazy stubs (trampolines.S): the address at which the entry goes on, never NULL. */
void *tessera_resolve(unsigned index);

#endif
