/* One capture, and how capture_entries.c opens and closes them. */
#ifndef TESSERA_RELAY_CAPTURE_STATE_H
#define TESSERA_RELAY_CAPTURE_STATE_H

#include <pthread.h>

#include "relay/streams/capture.h"

/* A bit that no user address and no handle has. */
#define CAPTURE_KEY (1ULL << 62)

struct capture {
    struct capture *next;
    uint64_t id;
    int mode;
    pthread_t owner;
    struct stream *origin;
    struct relay_context *context;
    struct stream *streams; /* that are captured in it */
    struct event *events;   /* that were recorded in it */
    bool blocking;          /* a stream in it is a blocking one: the legacy stream must not be used meanwhile */
    bool invalid;
};

/* The executor has begun a capture of the stream. */
CUresult capture_opened(struct stream *stream, int mode);

/*
 * Forgets the stream's capture, which the program ends: 0, or why this stream or thread cannot end it. *invalid: a
 * forbidden call came in between. *key: the capture's key (capture_key).
 */
CUresult capture_closing(struct stream *stream, bool *invalid, uint64_t *key);

struct capture_status {
    int state; /* CUstreamCaptureStatus */
    uint64_t id;
};
struct capture_status capture_status(const struct stream *stream);

/* As capture_implicit(), but invalidates nothing. */
CUresult capture_implicit_open(struct relay_context *context);

#endif
