/*
 * Functions of the program that the device's streams and graphs call: the device writes 1 to a word and waits until
 * it is 0. A thread of the library sees the 1, runs the function, and writes 0.
 */
#ifndef TESSERA_RELAY_CALLBACKS_H
#define TESSERA_RELAY_CALLBACKS_H

#include "relay/wire/relay.h"

struct callback {
    void (*function)(void *data);                                          /* CUhostFn */
    void (*stream_function)(CUstream stream, CUresult status, void *data); /* CUstreamCallback; one of the two */
    CUstream stream;                                                       /* as the program named it */
    void *data;
    void (*released)(void *data); /* called when the word is not used any more; NULL: nothing to do */
};

/*
 * Puts a function behind a word. `again`: it is called each time (graphs), until callback_release(); else once, and the
 * word goes back by itself. The word, or -1: no word, no memory, or no thread.
 */
int callback_prepare(struct relay_context *context, const struct callback *callback, bool again);

/* The function and argument registered for a word; false: none. */
bool callback_of(struct relay_link *link, int word, struct callback *callback);

/* Puts another function behind the word of a graph's node. */
bool callback_change(struct relay_link *link, int word, const struct callback *callback);

/* The word is not used by any graph any more, or was never sent. */
void callback_release(struct relay_link *link, int word);

#endif
