/* Events of the program. Completion words tell which are complete; the executor is not asked. */
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
    int asked_word;              /* which tells, its own or its stream's */
    uint64_t asked;              /* what it is when the event is complete; 0: not asked since the last record */
    uint64_t position;           /* end of its record in the ring, or somewhat behind */
    bool last;                   /* when it is complete, all work of the stream before `position` is */
    struct stream *stream;       /* in which; NULL: not known any more */
    struct capture *capture;     /* recorded in one; under capture.c's lock */
    struct event *captured_next; /* in its capture's list */
};

/* The event of a program's handle; NULL: none. */
struct event *event_of(CUevent handle);

/* The event was recorded by a record that ends at ring position `end`; 0: by a kernel, it says nothing of other work. */
void event_recorded(struct event *event, struct stream *stream, uint64_t end);

/* A graph or another process will record the event. */
void event_unseen(struct event *event);

/*
 * Another process's event was opened under a handle that may be known already: then it is destroyed as often as it was
 * opened. OUT_OF_MEMORY: it is not known, and the executor has it open.
 */
CUresult event_opened(struct relay_context *context, uint64_t handle);

/* Whether the program may hand it to other processes. */
bool event_is_interprocess(const struct event *event);

/* Forgets the events of a context that ends. */
void events_context_ended(struct relay_context *context);

/* A stream is destroyed: events do not speak of it any more. */
void events_stream_gone(const struct stream *stream);

#endif
