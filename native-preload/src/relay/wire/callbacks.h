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
 * Registers a function and returns its word; -1: no word is left, or no thread. `again`: it is called each time (graphs),
 * until callback_release(). Otherwise it is called once and its word is then freed; the call may wait for a free word.
 */
int callback_prepare(struct relay_context *context, const struct callback *callback, bool again);

/* The function and argument registered for a word; false: none. */
bool callback_of(struct relay_link *link, int word, struct callback *callback);

/* Replaces the function of a word that a graph's node uses. False: the word has none. */
bool callback_change(struct relay_link *link, int word, const struct callback *callback);

/* Frees a word that no graph uses any more, or that was never sent; calls `released`. */
void callback_release(struct relay_link *link, int word);

#endif
