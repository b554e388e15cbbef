/*
 * The thread that grows the pinned tier of backing.h ahead of need: registering costs 0.04 s a GiB where the pages were touched
 * before (H200), so nobody's turn should wait for it.
 */
#ifndef TESSERA_PINNING_H
#define TESSERA_PINNING_H

/* With the lock: starts the thread, if a manager plans residency and it does not run yet. */
void pinning_wake(unsigned device);

/* In the child of a fork: no thread. */
void pinning_forked(void);

#endif
