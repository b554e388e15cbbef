/*
 * Checkpoints of whole processes, as the script's statement `checkpoints FOLDER` allows: a process's state is a file there,
 * named by its pid, so that another process can change it.
 */
#ifndef SCRIPTED_CHECKPOINT_H
#define SCRIPTED_CHECKPOINT_H

/* What driver 580 takes off a device and does not bring back, and what it does not take. */
enum checkpoint_hindrance { CHECKPOINT_IMPORTS, CHECKPOINT_MANAGED, CHECKPOINT_HINDRANCES };

/* Changes the process's number of them. Locked by the caller. */
void checkpoint_holds(enum checkpoint_hindrance what, int change);

/* Waits, bounded, while this process is locked or checkpointed: no call of it returns meanwhile. */
void checkpoint_wait(void);

#endif
