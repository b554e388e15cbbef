/* Contexts, as the files that make and end them see them. Include relay.h first. */
#ifndef TESSERA_RELAY_CONTEXT_H
#define TESSERA_RELAY_CONTEXT_H

#include "relay/wire/relay.h"

/*
 * The layers' handlers for the end of a context, before the executor learns of it: they forget what they hold of it.
 * Called in the order of the array, which ends with NULL and stays the caller's, with the lock held that makes and ends
 * contexts. At cuInit.
 */
typedef void (*context_ending)(struct relay_context *context);
void context_on_end(const context_ending *endings);

/* Makes the primary context of the link known, inactive, under this handle (NULL: one of our own). At cuInit. */
void context_prepare_primary(struct relay_link *link, CUcontext handle);

/* Makes a context in the executor. The calling thread's stack is left as it is. */
CUresult context_create(struct relay_link *link, unsigned flags, unsigned version, struct relay_context **made);

/* Makes the primary context active once more; the first time in the executor too. */
CUresult context_retain(struct relay_context *primary);

/* Gives back one retain; the last one ends the context. All of them: reset. */
CUresult context_release(struct relay_context *primary);
CUresult context_reset(struct relay_context *primary);

/* Calls `visit` for every context of the link that is alive. Takes no lock: one that is made or ends meanwhile may be left out. */
void context_each(const struct relay_link *link, void (*visit)(struct relay_context *context));

/* Ends a created context, also where threads have it current. */
CUresult context_destroy(struct relay_context *context);

/* The calling thread's stack of contexts (context_stack.c). NULL pops for set. */
CUresult current_set(struct relay_context *context);
CUresult current_push(struct relay_context *context);
CUresult current_pop(struct relay_context **popped);

/* In the child of a fork: no context is left. */
void context_forked(void);

#endif
