/* Events of the program. Completion words show which are complete, so the executor is seldom asked. */
#ifndef TESSERA_RELAY_EVENTS_H
#define TESSERA_RELAY_EVENTS_H

#include <pthread.h>

#include "relay/wire/relay.h"

struct stream;
struct capture;

struct event {
    uint64_t handle;
    struct relay_context *context;
    unsigned flags; /* CUevent_flags */
    pthread_mutex_t lock;
    bool recorded;
    bool complete;               /* seen to be */
    bool unseen;                 /* a graph or another process may record it */
    unsigned opened;             /* another process's event: its number of uses; 0: our own */
    int word;                    /* its own; -1: none yet */
    int asked_word;              /* shows that it is complete: its own word or its stream's */
    uint64_t asked;              /* that word's value when the event is complete; 0: not asked since the last record */
    uint64_t position;           /* end of its record in the ring, or somewhat behind */
    bool last;                   /* once it is complete, so is all work of the stream before `position` */
    struct stream *stream;       /* where it was recorded; NULL: no longer known */
    struct capture *capture;     /* recorded in one; under capture.c's lock */
    struct event *captured_next; /* in its capture's list */
};

/* The event of a program's handle; NULL: none. */
struct event *event_of(CUevent handle);

/* The event was recorded by a record that ends at ring position `end`. 0: by a kernel, so it says nothing about other work. */
void event_recorded(struct event *event, struct stream *stream, uint64_t end);

/* A graph or another process will record the event. */
void event_unseen(struct event *event);

/*
 * Enters another process's event, which the executor has opened under this handle. If the handle is known already, the
 * program destroys it as often as it opened it. OUT_OF_MEMORY: it is not entered, and stays open in the executor.
 */
CUresult event_opened(struct relay_context *context, uint64_t handle);

/* Whether the program may hand it to other processes. */
bool event_is_interprocess(const struct event *event);

/* Forgets the events of a context that ends. */
void events_context_ended(struct relay_context *context);

/* A stream is destroyed: its events no longer refer to it. */
void events_stream_gone(const struct stream *stream);

#endif
