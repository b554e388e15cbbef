/* Streams that a test holds and lets go: until then, work behind the hold does not run. */
#ifndef TESSERA_HELD_STREAM_H
#define TESSERA_HELD_STREAM_H

#include "direct/pools/stream_mark.h"
#include "scripted_driver.h"

static uint32_t *held_word; /* streams wait for its value */
static uint32_t holds;

/* A stream of the first context. */
static struct stream_identity new_stream(void)
{
    CUstream stream;
    CHECK(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    return (struct stream_identity){.handle = (uintptr_t)stream, .context = driver.context};
}

static void hold(struct stream_identity stream)
{
    if (!held_word)
        CHECK(DRIVER(cuMemHostAlloc)((void **)&held_word, sizeof *held_word, CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS);
    CHECK(DRIVER(cuStreamWaitValue32_v2)((CUstream)stream.handle, (CUdeviceptr)(uintptr_t)held_word, ++holds, 0) ==
          CUDA_SUCCESS);
}

/* Returns when the stream has done all its work. */
static void let_go(struct stream_identity stream)
{
    __atomic_store_n(held_word, holds, __ATOMIC_RELEASE);
    CHECK(DRIVER(cuStreamSynchronize)((CUstream)stream.handle) == CUDA_SUCCESS);
}

#endif
