/*
 * The client's records of the program's kernels: attributes, offsets of parameters, names. The executor is asked once
 * for each handle.
 */
#ifndef TESSERA_RELAY_FUNCTIONS_H
#define TESSERA_RELAY_FUNCTIONS_H

#include <pthread.h>

#include "relay/wire/relay.h"

/* A list item: one answer of the executor to an occupancy query. */
struct occupancy_answer {
    struct occupancy_answer *next;
    uint64_t value;
    uint32_t bytes;
    unsigned char query[];
};

#define FUNCTION_LIMITS 7u

/* One kernel on one device. A CUkernel and its CUfunction share this record. */
struct function {
    uint64_t handle; /* the CUfunction behind it */
    struct relay_link *link;
    char *name;                       /* NULL: not asked yet */
    unsigned references;              /* keys in the table */
    uint32_t limits[FUNCTION_LIMITS]; /* what the device allows: threads of a block, block in x, y, z, grid in x, y, z */
    uint32_t valid;
    int32_t attributes[TESSERA_RELAY_FUNCTION_ATTRIBUTES];
    struct occupancy_answer *answers; /* to occupancy queries */
    pthread_mutex_t lock;             /* of name and answers */
    /* cuFuncSetBlockShape, cuFuncSetSharedSize, cuParamSet*: what cuLaunch takes */
    uint32_t legacy_block[3];
    uint32_t legacy_shared;
    uint32_t legacy_bytes;
    unsigned char *legacy_parameters;
    uint32_t prints;
    uint32_t parameter_bytes;
    uint32_t parameters;
    struct tessera_parameter parameter[];
};

/*
 * The kernel of a CUfunction or CUkernel in a context. Returns 0, INVALID_HANDLE, or the error of the query. *wire is
 * the executor's handle: a CUkernel of a library on several devices has one for each device.
 */
CUresult function_of(struct relay_context *context, const void *handle, struct function **function, uint64_t *wire);

/* Forgets a CUfunction or CUkernel whose module or library is unloaded. */
void functions_forget(uint64_t handle);

/* Forgets everything of a device: its contexts are gone. */
void functions_forget_link(struct relay_link *link);

/* Whether a kernel of the device can print. Then every synchronisation must fetch the output. */
bool functions_print(const struct relay_link *link);

/* Forgets the answers to occupancy queries: an attribute has changed, or there are too many. */
void function_answers_forget(struct function *function);

#endif
