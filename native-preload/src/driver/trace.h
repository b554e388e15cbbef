/* TESSERA_TRACE=FILE: every driver call of the process with its result, one line each. For finding out what a library asks.
 * Where an entry makes memory its first argument is noted as the address or handle that it made. Other answers of calls
 * follow at the end of their line (trace_answers.h). */
#ifndef TESSERA_TRACE_H
#define TESSERA_TRACE_H

/*
 * What the calling thread has waited for since it began: answers of an executor, and completion words that were not
 * reached yet. The trace notes what a call adds.
 */
struct trace_waits {
    unsigned answers, words;
};
extern __thread struct trace_waits trace_waits __attribute__((tls_model("initial-exec")));

/* Puts a noting thunk before every entry of the port table, if the environment asks for it. Once, after it is filled. */
void trace_port(void);

#endif
