/* TESSERA_TRACE=FILE: one line for every driver call of the process, with its result. It shows which calls a library makes.
 * If an entry allocates memory, the line has the new address or handle as the first argument. Other outputs of a call are at
 * the end of its line (trace_answers.h). */
#ifndef TESSERA_TRACE_H
#define TESSERA_TRACE_H

/*
 * How many waits the calling thread has made since it began: for answers of an executor, and for completion words that
 * were not reached yet. The trace records how many a call adds.
 */
struct trace_waits {
    unsigned answers, words;
};
extern __thread struct trace_waits trace_waits __attribute__((tls_model("initial-exec")));

/* Replaces every entry of the port table by a tracing thunk, if TESSERA_TRACE is set. To be called once, after the table is filled. */
void trace_port(void);

#endif
