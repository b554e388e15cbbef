/* A CUDA array: pitched storage. */
#ifndef SCRIPTED_ARRAY_H
#define SCRIPTED_ARRAY_H

#include "memory/memory.h"

struct array {
    CUdeviceptr base;
    uint64_t storage_id;
    struct array3d_descriptor descriptor;
    size_t pitch, slice; /* bytes of a row, of a layer */
};

/* Its memory; NULL once the context it belonged to has ended. Under the lock. */
struct allocation *array_storage(const struct array *array);

#endif
