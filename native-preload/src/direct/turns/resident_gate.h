/*
 * Brackets driver calls that submit nothing but access the program's memory. Under plan swap they pass the gate,
 * because all memory is resident while it is open. A capturing thread does not wait, because no turn ends inside a
 * capture.
 */
#ifndef TESSERA_RESIDENT_GATE_H
#define TESSERA_RESIDENT_GATE_H

#include "direct/turns/gate.h"
#include "session/settings.h"

static inline struct gate_pass resident_enter(void)
{
    return settings()->swap ? gate_enter(TESSERA_KIND_MEMORY_OP, TESSERA_STREAM_LEGACY) : (struct gate_pass){NULL, 0};
}

/* Evaluates to the call's result. */
#define WHILE_RESIDENT(call)                                                                                           \
    __extension__({                                                                                                    \
        struct gate_pass resident_pass = resident_enter();                                                             \
        CUresult resident_result = gate_refused(resident_pass) ? CUDA_ERROR_OUT_OF_MEMORY : (call);                    \
        gate_leave(resident_pass, resident_result);                                                                    \
        resident_result;                                                                                               \
    })

#endif
