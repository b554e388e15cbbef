/* Kernel launches: checked as the driver checks them at once, then written straight into the ring. */
#ifndef TESSERA_RELAY_LAUNCH_H
#define TESSERA_RELAY_LAUNCH_H

#include "relay/code/functions.h"
#include "relay/wire/layouts.h"
#include "relay/wire/relay.h"

struct launch {
    const void *function; /* CUfunction or CUkernel */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    CUstream stream;
    bool cooperative;
    void **parameters;
    void **extra;
    const struct layout_launch_attribute *attributes;
    uint32_t attribute_count;
};

CUresult launch_kernel(const struct launch *launch);

/* A kernel's parameters: pointers to each, or one packed buffer. The buffer may be shorter than the parameters, as the driver
   allows and NCCL does; the rest is zero then. */
struct parameter_source {
    void **pointers;
    const unsigned char *packed;
    size_t packed_bytes;
};

/*
 * Checks what the driver checks at once: shape, attributes, and kernelParams or extra, from which *source is filled in. 0, or the
 * driver's error. The launch's stream is not looked at.
 */
CUresult launch_check(const struct function *function, const struct launch *launch, struct parameter_source *source);

/* Writes the kernel's parameters, function->parameter_bytes bytes. */
void launch_pack(const struct function *function, const struct parameter_source *source, unsigned char *to);

#endif
