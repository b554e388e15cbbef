/*
 * Suspension (TESSERA_RESIDENCY_CHECKPOINTED): while the driver's checkpoint has taken this process off its devices,
 * driver calls block, and the manager would see only threads at the gate. So the port table has thunks during that
 * time. A thread that calls any entry waits in the library, where the manager sees it as synchronising and restores the
 * process. At all other times this costs nothing.
 */
#ifndef TESSERA_CHECKPOINT_STUBS_H
#define TESSERA_CHECKPOINT_STUBS_H

#include <stdbool.h>

/* Puts the thunks into the port table or removes them, by the manager's flags. Manager client's thread only. */
void checkpoint_stubs_update(void);

/* Whether every entry has its thunk. Any thread. */
bool checkpoint_stubs_in_place(void);

/* Whether the manager's flags say that the process is suspended, or about to be. Any thread. */
bool checkpointed_now(void);

/*
 * Waits as the thunks do until the process is restored; the manager sees the thread. Ends if the manager dies. Any
 * thread.
 */
void checkpoint_wait(void);

/* In the child of a fork, which is not suspended. */
void checkpoint_stubs_forked(void);

#endif
