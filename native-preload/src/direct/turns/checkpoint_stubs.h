/*
 * While the driver has taken this process off its devices (TESSERA_RESIDENCY_CHECKPOINTED), no driver call returns, and
 * the manager would see only the threads at the gate. So the port table leads to thunks during that time. A thread that
 * calls any entry waits in the library; the manager sees it as a synchronising thread and has the process brought back.
 * At all other times this costs nothing.
 */
#ifndef TESSERA_CHECKPOINT_STUBS_H
#define TESSERA_CHECKPOINT_STUBS_H

#include <stdbool.h>

/* Puts the thunks in place, or takes them out, as the manager's flags say. Of the manager client's thread alone. */
void checkpoint_stubs_update(void);

/* Whether the manager says that the process is away, or is about to be. Any thread. */
bool checkpointed_now(void);

/* Waits until it is back, as a call by the thunks does: the manager sees it, and brings the process back. Any thread. */
void checkpoint_wait(void);

/* In the child of a fork, which has been taken off nothing. */
void checkpoint_stubs_forked(void);

#endif
