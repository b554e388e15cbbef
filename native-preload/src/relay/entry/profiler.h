/* Profilers: their libraries in a program see its calls but no kernels, since the kernels run in the executor. */
#ifndef TESSERA_RELAY_PROFILER_H
#define TESSERA_RELAY_PROFILER_H

/* At cuInit: tells the user once, in one line, if the environment names a profiler's library. Any thread. */
void profiler_look(void);

/*
 * A library asks for an export table. Tells the user, as above, if it is a profiler's. The table alone does not show this,
 * since NVIDIA's other libraries ask for the tools' tables, too. caller: an address in the library. Any thread.
 */
void profiler_asked(const void *caller);

#endif
