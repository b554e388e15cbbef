/* The vendor's driver library: finds it, opens it by absolute path, and looks up its entries. */
#ifndef TESSERA_DRIVER_H
#define TESSERA_DRIVER_H

#include <stdbool.h>

/* The dlopen handle of the vendor's library, opened at the first call; NULL: there is none. Holds no lock during dlopen. */
void *driver_handle(void);

/*
 * Looks up every entry of the driver once; a concurrent call does not wait for the first one. Any thread. To be called
 * before the library starts its first thread. Otherwise that thread could deadlock: dlsym waits for glibc's loader
 * lock, and a thread whose constructor runs under this lock may be waiting for the library's thread.
 */
void driver_look_up_all(void);

/* Called by the lazy stubs (trampolines.S): returns the entry's address in the vendor's library, never NULL. Any thread. */
void *tessera_resolve(unsigned index);

/* Called by the initial stubs of the port table (trampolines.S): returns the function that serves the entry, never NULL. Any thread. */
void *tessera_choose(unsigned index);

#endif
