/*
 * Looks at chunks that are about to leave the device, by a kernel of ours (content.cu): which parts are all zero, and a hash of
 * each part, by which a part is known to be as it was when it was copied to the host. The kernel is loaded into the context in
 * which the copier works. Where the driver refuses it, nothing is looked at, and all contents are copied.
 *
 * For each device there is one looker for moves, which its turns thread uses, and one for samples (content_sample.h). A looker is used
 * by one thread at a time, in a context of the device.
 */
#ifndef TESSERA_CONTENT_LOOK_H
#define TESSERA_CONTENT_LOOK_H

#include <stdbool.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

#define LOOKS 512 /* chunks that are looked at, at once: they are read at the speed of device memory if they are many */

struct looker;

struct looker *looker_of_moves(unsigned device);
struct looker *looker_of_samples(unsigned device);

/* What was found. */
struct look {
    struct chunk *chunk;
    uint32_t filled; /* parts that are not all zero */
    struct part_hash hashes[PARTS];
};

/*
 * Takes a BUSY chunk that is mapped in the current context. False: it cannot be looked at, or as many as can be are under way. The
 * kernel runs when enough chunks were taken, or at the next look_flush(). NULL instead of a chunk: the kernel runs and looks at
 * nothing, so that the end of this look shows that the device has room for a kernel.
 */
bool look_begin(struct looker *looker, const void *context, struct chunk *chunk);

/* Has the kernel run for all chunks that were taken. */
void look_flush(struct looker *looker);

/*
 * Ends the oldest look if it is complete. False: it is not, or there is none. `result` is the driver's, and CUDA_ERROR_UNKNOWN if
 * the kernel did not run: then nothing was found.
 */
bool look_ended(struct looker *looker, struct look *look, CUresult *result);

/* The context is about to end, with all that was made in it. No look is under way. Any thread. */
void look_context_closing(const void *context);

/* In the child of a fork. */
void look_forked(void);

#endif
