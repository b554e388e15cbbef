/*
 * Prints which functions of the library a call enters, in order: `call NAME`, then a line `enter ADDRESS` for each function of the
 * library entered by the calling thread, and a line `driver` at a call of the driver's. The library is compiled with
 * -finstrument-functions (Makefile, INSTRUMENT=1), inlined functions included; addresses are relative to the program.
 */
#ifndef TESSERA_CALL_PATH_H
#define TESSERA_CALL_PATH_H

#include <stdio.h>

#define UNTRACED __attribute__((no_instrument_function))
#define MOST_EVENTS 512u

extern const char __executable_start;
static __thread const void *passed[MOST_EVENTS]; /* NULL: the driver's call */
static __thread unsigned passed_count;
static __thread int tracing;

UNTRACED void __cyg_profile_func_enter(void *function, void *caller);
UNTRACED void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (tracing && passed_count < MOST_EVENTS)
        passed[passed_count++] = function;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

/* In the stand-in for the driver's entry. */
UNTRACED static inline void in_driver(void)
{
    if (tracing && passed_count < MOST_EVENTS)
        passed[passed_count++] = NULL;
}

/* Ends the trace, and prints what the call entered. */
UNTRACED static void print_call(const char *name)
{
    tracing = 0;
    printf("call %s\n", name);
    for (unsigned i = 0; i < passed_count; i++)
        if (passed[i])
            printf("enter %lx\n", (unsigned long)((const char *)passed[i] - &__executable_start));
        else
            printf("driver\n");
    passed_count = 0;
}

#define TRACE(name, call)                                                                                              \
    do {                                                                                                               \
        tracing = 1;                                                                                                   \
        CHECK((call) == CUDA_SUCCESS);                                                                                 \
        print_call(name);                                                                                              \
    } while (0)

#endif
