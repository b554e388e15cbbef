/*
 * Samples of how much of a program's memory is not zero, taken while it runs. A separate thread periodically examines
 * some chunks, chosen at random. So the manager knows the cost of a hand-over before the first one, and no host
 * memory is pinned for parts that are zero.
 */
#ifndef TESSERA_CONTENT_SAMPLE_H
#define TESSERA_CONTENT_SAMPLE_H

/* With the lock: the process has obtained memory of plan swap. Starts the thread if there is something to sample. */
void content_sample_wake(unsigned device);

/* In the child of a fork. */
void content_sample_forked(void);

#endif
