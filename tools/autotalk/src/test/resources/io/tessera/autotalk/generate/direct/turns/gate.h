#ifndef GATE_H
#define GATE_H

#include "tessera_abi.h"
#include "tessera_entries.h"

#define TESSERA_STREAM_LEGACY ((uintptr_t)1)
#define TESSERA_STREAM_PER_THREAD ((uintptr_t)2)

struct gate_pass {
    uintptr_t ticket;
};

struct gate_pass gate_enter(unsigned kind, uintptr_t stream);
void gate_leave(struct gate_pass pass, CUresult result);

#define CUDA_ERROR_OUT_OF_MEMORY 2

static inline int gate_refused(struct gate_pass pass)
{
    return pass.ticket == UINTPTR_MAX;
}

static inline uintptr_t gate_stream(CUstream stream, uintptr_t ifNull)
{
    return stream ? (uintptr_t)stream : ifNull;
}

/* Generated code for the whole driver is compiled with these headers too; only its types matter there. */
CUstream launch_config_stream(const void *config);

#endif
