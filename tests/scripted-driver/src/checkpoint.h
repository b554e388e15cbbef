/*
 * Checkpoints of whole processes, as the script's statement `checkpoints FOLDER` allows: a process's state is a file there,
 * named by its pid, so that another process can change it.
 */
#ifndef SCRIPTED_CHECKPOINT_H
#define SCRIPTED_CHECKPOINT_H

/*
 * The process has so many imports of memory more, or fewer. With any it is checkpointed as every other, and not restored, which
 * is what driver 580 does. Locked by the caller.
 */
void checkpoint_imports(int change);

/* Waits, bounded, while this process is locked or checkpointed: no call of it returns meanwhile. */
void checkpoint_wait(void);

#endif
