/*
 * TESSERA_MOVE_TRACE=FILE: a time line of moves, which shows what a hand-over waits for. Each event is one line:
 * nanoseconds (CLOCK_MONOTONIC, the same in all processes), process, device, event, chunk (a number), bytes. Lines are
 * written when a move is over, so that the file system does not delay it. Several processes may write to one file.
 */
#ifndef TESSERA_MOVE_TRACE_H
#define TESSERA_MOVE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

extern bool move_trace_on;

void move_trace_note(unsigned device, const char *event, const void *chunk, uint64_t bytes);

/* Records an event. Costs one load if the variable is not set. Any thread. */
static inline void move_trace(unsigned device, const char *event, const void *chunk, uint64_t bytes)
{
    if (__builtin_expect(__atomic_load_n(&move_trace_on, __ATOMIC_RELAXED), 0))
        move_trace_note(device, event, chunk, bytes);
}

/* Reads the environment variable, at the first call. */
void move_trace_open(void);

/* Writes the recorded events. */
void move_trace_write(void);

/* In the child of a fork. */
void move_trace_forked(void);

#endif
