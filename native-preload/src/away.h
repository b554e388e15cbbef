/*
 * While the driver has taken this process off its devices (TESSERA_RESIDENCY_CHECKPOINTED) no call of it returns, and only
 * calls at the gate could say that they wait. So the port table leads to thunks then: whoever calls any entry waits in the
 * library, where the manager sees it as a thread that synchronises, and has the process brought back. At all other times
 * this costs nothing.
 */
#ifndef TESSERA_AWAY_H
#define TESSERA_AWAY_H

/* Puts the thunks in place, or takes them out, as the manager's flags say. Of the attendant's thread alone. */
void away_look(void);

/* In the child of a fork, which has been taken off nothing. */
void away_forked(void);

#endif
