/* The vendor's driver library: found, opened by absolute path, and asked for its entries. */
#ifndef TESSERA_DRIVER_H
#define TESSERA_DRIVER_H

#include <stdbool.h>

/* The vendor's library (dlopen handle), opened at the first call; NULL: there is none. Holds no lock over dlopen. */
void *driver_handle(void);

/*
 * Looks up every entry of the driver once; a concurrent call does not wait for it. Any thread. To be called before
 * the library starts its first thread: dlsym waits for glibc's lock of loaded libraries, and a thread that holds it,
 * because a constructor runs under it, may be waiting for the library's thread.
 */
void driver_look_up_all(void);

/* Called by the lazy stubs (trampolines.S): the address at which the entry goes on in the vendor's library, never NULL. */
void *tessera_resolve(unsigned index);

/* Called by the stubs that the port table starts with (trampolines.S): where calls of the exported entry go on, never NULL. */
void *tessera_choose(unsigned index);

#endif
