/* Threads of the library: detached, small, with every signal blocked so that the host's handlers stay on its own. */
#ifndef TESSERA_OWN_THREAD_H
#define TESSERA_OWN_THREAD_H

#include <stdbool.h>

/* Starts a thread; false: the system gives none. `name`: at most 15 characters. */
bool own_thread_start(const char *name, void *(*run)(void *), void *argument);

/*
 * First thing in a thread that calls the driver: its calls do not end captures of the program's other threads. Where it fails
 * that is reported as of `thread`, but not where the driver is shutting down: then nothing is captured any more.
 */
void own_thread_relax(const char *thread);

#endif
