/*
 * Examines chunks that are about to leave the device, with a kernel of the library (content.cu). It finds the parts
 * that are all zero, and a hash of each part, which shows whether the part has changed since it was copied to the
 * host. The kernel is loaded into the context in which the copier works. If the driver refuses it, nothing is
 * examined, and all contents are copied.
 *
 * Each device has one looker for moves, which its turns thread uses, and one for samples (content_sample.h). A looker
 * is used by one thread at a time, in a context of the device.
 */
#ifndef TESSERA_CONTENT_LOOK_H
#define TESSERA_CONTENT_LOOK_H

#include <stdbool.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

#define LOOKS 512 /* most chunks examined at once: a kernel for many chunks reads at the speed of device memory */

struct looker;

struct looker *looker_of_moves(unsigned device);
struct looker *looker_of_samples(unsigned device);

struct look {
    struct chunk *chunk;
    unit_mask filled; /* parts that are not all zero */
    struct part_hash hashes[PARTS];
};

/*
 * Takes a BUSY chunk that is mapped in the current context. False: it cannot be examined, or the maximum number of
 * looks is in progress. The kernel runs when enough chunks were taken, or at the next look_flush(). NULL instead of a
 * chunk: the kernel runs and examines nothing, so that the end of this look shows that the device has room for a
 * kernel.
 */
bool look_begin(struct looker *looker, const void *context, struct chunk *chunk);

/* Runs the kernel for all chunks that were taken. */
void look_flush(struct looker *looker);

/*
 * Ends the oldest look if it is complete. False: it is not, or there is none. `result` is the driver's, or CUDA_ERROR_UNKNOWN if
 * the kernel did not run. Unless it is CUDA_SUCCESS, only look->chunk is valid.
 */
bool look_ended(struct looker *looker, struct look *look, CUresult *result);

/* The context is about to end, with everything created in it. No look is in progress. Any thread. */
void look_context_closing(const void *context);

/* In the child of a fork. */
void look_forked(void);

#endif
