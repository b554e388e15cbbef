/* Stands in for the gate: counts passes. */
#pragma once
#include <stdint.h>
#define TESSERA_KIND_LAUNCH 0
#define TESSERA_STREAM_LEGACY ((uintptr_t)1)
extern int gate_entered, gate_left;
struct gate_pass {
    uintptr_t stream;
};
static inline uintptr_t gate_stream(const void *s, uintptr_t otherwise)
{
    return s ? (uintptr_t)s : otherwise;
}
static inline struct gate_pass gate_enter(unsigned kind, uintptr_t stream)
{
    gate_entered += kind == TESSERA_KIND_LAUNCH && stream > 2;
    return (struct gate_pass){stream};
}
static inline void gate_leave(struct gate_pass pass, int result)
{
    gate_left += pass.stream > 2 && result > 0;
}
