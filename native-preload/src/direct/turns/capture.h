/*
 * Stream captures. While one is open, synchronising its context or touching its stream from outside would destroy it
 * (measured: cuCtxSynchronize answers 900 and the capture ends with 901), so no turn ends inside a capture, and
 * nothing of ours is recorded into one.
 */
#ifndef TESSERA_CAPTURE_H
#define TESSERA_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Keeps captures from beginning until capture_unshield(); false, and nothing held, if one is open or begins now. */
bool capture_shield(void);

/* The same, but waits for a begin that is under way; false if a capture is open. For threads of our own. */
bool capture_shield_wait(void);
void capture_unshield(void);

/* Whether a capture is open on the device (or on one that is not known). */
bool capture_open(unsigned device);

/* Whether a capture is open that the calling thread has begun: it cannot wait for that one's end. */
bool capture_of_caller(void);

/* Whether any capture is open. Cheap. */
bool capture_open_any(void);

/* Around calls of the driver that begin or end a capture, until capture_unshield(): no other thread begins or ends one. */
void capture_hold(void);
/* Held: the stream, of the device (-1: not known), captures from now on; or no longer, if it did. */
void capture_begun(uintptr_t stream, int device);
void capture_ended(uintptr_t stream);

/* The stream is being destroyed: its capture, if one is open, ends with it. */
void capture_stream_destroyed(uintptr_t stream);

/* In the child of a fork. */
void capture_forked(void);

#endif
