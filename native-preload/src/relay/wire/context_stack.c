/* Each thread's stack of contexts, as the driver keeps it: the current one is on top. */
#include <pthread.h>
#include <stdlib.h>

#include "relay/wire/context.h"

#define FIRST_ROOM 8u

__thread struct relay_context *relay_current __attribute__((tls_model("initial-exec")));
__thread bool callback_inside __attribute__((tls_model("initial-exec")));

/* The thread's contexts below the current one. */
struct below {
    unsigned depth, room;
    struct relay_context *contexts[];
};
static __thread struct below *below __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static bool exit_key_made;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, free) == 0;
}

static bool make_room(void)
{
    if (below && below->depth < below->room)
        return true;
    unsigned room = below ? below->room * 2 : FIRST_ROOM;
    pthread_once(&exit_key_once, make_exit_key);
    struct below *grown = realloc(below, sizeof *grown + room * sizeof *grown->contexts);
    if (!grown)
        return false;
    if (!below)
        grown->depth = 0;
    grown->room = room;
    below = grown;
    if (exit_key_made)
        pthread_setspecific(exit_key, grown);
    return true;
}

CUresult current_push(struct relay_context *context)
{
    if (relay_current) {
        if (!make_room())
            return CUDA_ERROR_OUT_OF_MEMORY;
        below->contexts[below->depth++] = relay_current;
    }
    relay_current = context;
    return CUDA_SUCCESS;
}

CUresult current_pop(struct relay_context **popped)
{
    if (!relay_current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *popped = relay_current;
    relay_current = below && below->depth ? below->contexts[--below->depth] : NULL;
    return CUDA_SUCCESS;
}

CUresult current_set(struct relay_context *context)
{
    struct relay_context *popped;
    if (context)
        relay_current = context;
    else if (relay_current)
        current_pop(&popped);
    return CUDA_SUCCESS;
}
