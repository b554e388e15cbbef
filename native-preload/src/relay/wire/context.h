/* Contexts, as the files that make and end them see them. Who uses them includes relay.h. */
#ifndef TESSERA_RELAY_CONTEXT_H
#define TESSERA_RELAY_CONTEXT_H

#include "relay/wire/relay.h"

/* Makes the primary context of the link known, inactive, under this handle (NULL: one of our own). At cuInit. */
void context_prepare_primary(struct relay_link *link, CUcontext handle);

/* Makes a context in the executor. The calling thread's stack is left as it is. */
CUresult context_create(struct relay_link *link, unsigned flags, unsigned version, struct relay_context **made);

/* Makes the primary context active once more; the first time in the executor too. */
CUresult context_retain(struct relay_context *primary);

/* Gives back one retain; the last one ends the context. All of them: reset. */
CUresult context_release(struct relay_context *primary);
CUresult context_reset(struct relay_context *primary);

/*
 * Waits until all work is done that was submitted to the executor in any context. An error of asynchronous work stays
 * for a call that may report it.
 */
void context_wait_all(struct relay_link *link);

/* Ends a created context, whoever has it current. */
CUresult context_destroy(struct relay_context *context);

/* The calling thread's stack of contexts (current.c). NULL pops for set. */
CUresult current_set(struct relay_context *context);
CUresult current_push(struct relay_context *context);
CUresult current_pop(struct relay_context **popped);

/* In the child of a fork: no context is left. */
void context_forked(void);

/* Runs the destructors of all that is stored for a context that ends (storage.c). */
void storage_context_ended(struct relay_context *context);
void storage_forked(void);

#endif
