/*
 * TESSERA_MOVE_TRACE=FILE: a time line of what moves, for finding out what a hand-over waits for. One line an event:
 * nanoseconds (CLOCK_MONOTONIC, which all processes share), process, device, event, chunk (any number), bytes. Written when a
 * move is over, so that the file system is no part of it. Several processes may write one file.
 */
#ifndef TESSERA_MOVE_TRACE_H
#define TESSERA_MOVE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

extern bool move_trace_on;

void move_trace_note(unsigned device, const char *event, const void *chunk, uint64_t bytes);

/* Costs one load without the variable. Any thread. */
static inline void move_trace(unsigned device, const char *event, const void *chunk, uint64_t bytes)
{
    if (__builtin_expect(__atomic_load_n(&move_trace_on, __ATOMIC_RELAXED), 0))
        move_trace_note(device, event, chunk, bytes);
}

/* Asks the environment, at the first call. */
void move_trace_open(void);

/* Writes what was noted. */
void move_trace_write(void);

/* In the child of a fork. */
void move_trace_forked(void);

#endif
