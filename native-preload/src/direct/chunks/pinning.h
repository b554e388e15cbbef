/*
 * The thread that grows the pinned tier of backing.h ahead of need. Registering costs 0.04 s a GiB of touched pages
 * (H200), and no turn should wait for it.
 */
#ifndef TESSERA_PINNING_H
#define TESSERA_PINNING_H

/* With the lock: starts the thread, if a manager plans residency and it does not run yet. */
void pinning_wake(unsigned device);

/* In the child of a fork: no thread. */
void pinning_forked(void);

#endif
