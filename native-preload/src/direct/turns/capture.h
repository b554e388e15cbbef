/*
 * Open stream captures. To synchronise the context of a capture, or to use its stream from outside, would invalidate it
 * (measured: cuCtxSynchronize returns 900 and the capture ends with 901). So no turn ends inside a capture, and the
 * library submits nothing to a stream that captures. Any thread may call these functions.
 */
#ifndef TESSERA_CAPTURE_H
#define TESSERA_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Keeps captures from beginning until capture_unshield(). False: a capture is open or begins now; nothing is held. */
bool capture_shield(void);

/* As capture_shield(), but waits for a begin that is in progress. False: a capture is open. */
bool capture_shield_wait(void);
void capture_unshield(void);

/* Whether a capture is open on the device, or on an unknown device. */
bool capture_open(unsigned device);

/* Whether the calling thread has begun a capture that is open, so that it cannot wait for the end of captures. */
bool capture_of_caller(void);

/* Whether any capture is open. Costs one load. */
bool capture_open_any(void);

/* Brackets, with capture_unshield(), driver calls that begin or end a capture: no other thread does so meanwhile. */
void capture_hold(void);
/* With capture_hold(): the stream, on the device (-1: unknown), has begun or ended a capture. */
void capture_begun(uintptr_t stream, int device);
void capture_ended(uintptr_t stream);

/* The stream is being destroyed, which ends its capture, if one is open. */
void capture_stream_destroyed(uintptr_t stream);

/* In the child of a fork. */
void capture_forked(void);

#endif
