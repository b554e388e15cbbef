/* Profilers: their libraries in a program see its calls, and no kernel, since the kernels run in the executor. */
#ifndef TESSERA_RELAY_PROFILER_H
#define TESSERA_RELAY_PROFILER_H

/* At cuInit: tells the user in a line, once, if the environment names a library that is to look at the program's CUDA. Any thread. */
void profiler_look(void);

/*
 * A library asks for an export table. Tells the user likewise if it is a profiler's; NVIDIA's other libraries ask for the
 * tools' tables, too, so the table alone says nothing. caller: an address in the library. Any thread.
 */
void profiler_asked(const void *caller);

#endif
