/* membarrier(2): a full barrier on every running thread of this process; only the caller pays for it. */
#ifndef TESSERA_MEMBARRIER_H
#define TESSERA_MEMBARRIER_H

#include <stdbool.h>

/* Registers the process; false: the kernel or a sandbox refuses. */
bool membarrier_register(void);

/* Whether the process is registered. If so, submissions need no fence. */
bool membarrier_works(void);

/* Issues the barrier. If the process is not registered, only the caller has a fence; then submissions have fences, too. */
void membarrier_all(void);

#endif
