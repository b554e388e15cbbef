/*
 * The thread that allocates the pinned tier of backing.h ahead of need, so that no turn waits for it: to register 1 GiB
 * of touched pages takes 0.04 s (H200).
 */
#ifndef TESSERA_PINNING_H
#define TESSERA_PINNING_H

/* With the lock: starts the thread if it does not run yet and a manager plans residency. */
void pinning_wake(unsigned device);

/* In the child of a fork: no thread. */
void pinning_forked(void);

#endif
