/*
 * Samples: how much of a program's memory is not zero, while it runs. A thread of its own looks at some chunks now and then, chosen
 * at random. So the manager knows what a hand-over would cost before there was one, and no host memory is pinned for what is zero.
 */
#ifndef TESSERA_CONTENT_SAMPLE_H
#define TESSERA_CONTENT_SAMPLE_H

/* With the lock: the process has got memory of plan swap. Starts the thread where that has something to do. */
void content_sample_wake(unsigned device);

/* In the child of a fork. */
void content_sample_forked(void);

#endif
