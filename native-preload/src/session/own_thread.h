/* Threads of the library: detached, with a small stack, and with all signals blocked, so that the program's own threads run its handlers. */
#ifndef TESSERA_OWN_THREAD_H
#define TESSERA_OWN_THREAD_H

#include <stdbool.h>

/* Starts a thread; false: the system gives none. `name`: at most 15 characters. */
bool own_thread_start(const char *name, void *(*run)(void *), void *argument);

/*
 * To be called first in a thread that calls the driver, so that its calls do not invalidate captures of the program's threads.
 * A failure is reported with the name `thread`, unless the driver is shutting down, because then no capture is open.
 */
void own_thread_relax(const char *thread);

#endif
