/* membarrier(2): a full barrier on every running thread of this process, at the cost of the caller alone. */
#ifndef TESSERA_MEMBARRIER_H
#define TESSERA_MEMBARRIER_H

#include <stdbool.h>

/* Registers the process; false where the kernel or a sandbox refuses. */
bool membarrier_register(void);

/* Whether the process is registered, so that submissions need no fence. */
bool membarrier_works(void);

/* The barrier. Where registration failed, a fence of the caller: submissions then fence for themselves. */
void membarrier_all(void);

#endif
