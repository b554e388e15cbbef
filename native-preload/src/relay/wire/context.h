/* Contexts, as the files that make and end them see them. Include relay.h first. */
#ifndef TESSERA_RELAY_CONTEXT_H
#define TESSERA_RELAY_CONTEXT_H

#include "relay/wire/relay.h"

/*
 * Registers the layers' handlers for the end of a context. They run before the executor learns of it, and forget what
 * their layer holds of the context. They are called in the order of the array, under the lock for making and ending
 * contexts. The array ends with NULL and stays the caller's. At cuInit.
 */
typedef void (*context_ending)(struct relay_context *context);
void context_on_end(const context_ending *endings);

/* Enters the primary context of the link, inactive, under this handle (NULL: a handle of our own). At cuInit. */
void context_prepare_primary(struct relay_link *link, CUcontext handle);

/* Makes a context in the executor. Does not change the calling thread's stack of contexts. */
CUresult context_create(struct relay_link *link, unsigned flags, unsigned version, struct relay_context **made);

/* Retains the primary context once more. The first retain makes it active, in the executor too. */
CUresult context_retain(struct relay_context *primary);

/* Gives back one retain, or all of them (reset). The context ends with the last one. */
CUresult context_release(struct relay_context *primary);
CUresult context_reset(struct relay_context *primary);

/* Calls `visit` for every context of the link that is alive. Takes no lock: one that is made or ends meanwhile may be left out. */
void context_each(const struct relay_link *link, void (*visit)(struct relay_context *context));

/* Ends a created context, even if it is current in some threads. */
CUresult context_destroy(struct relay_context *context);

/* The calling thread's stack of contexts (context_stack.c). current_set() replaces the top; NULL pops it. */
CUresult current_set(struct relay_context *context);
CUresult current_push(struct relay_context *context);
CUresult current_pop(struct relay_context **popped);

/* In the child of a fork: no context is left. */
void context_forked(void);

#endif
