/*
 * Contexts of the program. The executor has one context of the device, and tells the program's contexts apart by number.
 * Numbers and structures are reused, handles are not: a handle contains its place's generation.
 */
#include "relay/wire/context.h"

#include <pthread.h>

#define PLACES 1024u /* contexts at the same time, over all devices; a place's index is the record's number */

static struct relay_context places[PLACES];
static struct relay_context *primaries[TESSERA_MAX_DEVICES];
/* Held while a context is made or ended, including the wait for the executor. Recursive: destructors of stored values may call CUDA. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static uint64_t next_id = 1;
static const context_ending *endings;

void context_on_end(const context_ending *wanted)
{
    endings = wanted;
}

static CUcontext handle_of(const struct relay_context *context)
{
    uint64_t index = (uint64_t)context->generation * PLACES + context->number;
    return (CUcontext)(TESSERA_HANDLE_TAG | (uint64_t)TESSERA_HANDLE_CONTEXT << 40 |
                       (uint64_t)context->link->number << 36 | (index & UINT32_MAX) << 4);
}

/* Tells the executor, and waits for its answer. */
static CUresult change(struct relay_context *context, unsigned what)
{
    struct relay_link *link = context->link;
    struct relay_slot slot;
    if (!relay_slot_take(link, &slot))
        return relay_link_state(link);
    struct tessera_context_change *body;
    struct relay_claimed claimed = relay_claim(link, TESSERA_RELAY_CONTEXT, sizeof *body, RELAY_NO_END);
    if (!claimed.record) {
        relay_slot_give(link, &slot);
        return relay_link_state(link);
    }
    claimed.record->slot = slot.index + 1;
    claimed.record->context = context->number;
    body = claimed.body;
    *body = (struct tessera_context_change){.change = what, .flags = context->flags};
    relay_commit(link, claimed);
    CUresult result = relay_slot_wait(link, &slot);
    relay_slot_give(link, &slot);
    return result;
}

static CUresult begin(struct relay_context *context)
{
    CUresult result = relay_link_state(context->link);
    if (result == CUDA_SUCCESS)
        result = change(context, TESSERA_CONTEXT_CREATE);
    if (result == CUDA_SUCCESS) {
        context->id = next_id++;
        __atomic_store_n(&context->alive, true, __ATOMIC_RELEASE);
        segment_change_begin();
        __atomic_fetch_add(&segment_get()->devices[context->link->device].contexts, 1, __ATOMIC_RELAXED);
        segment_change_end();
    }
    return result;
}

/* The layers above forget the context's objects first, so that no call names them to the executor afterwards. */
static CUresult end(struct relay_context *context)
{
    for (const context_ending *ending = endings; ending && *ending; ending++)
        (*ending)(context);
    __atomic_store_n(&context->alive, false, __ATOMIC_RELEASE);
    context->generation++;
    segment_change_begin();
    __atomic_fetch_sub(&segment_get()->devices[context->link->device].contexts, 1, __ATOMIC_RELAXED);
    segment_change_end();
    CUresult result = change(context, TESSERA_CONTEXT_DESTROY);
    /* A device that is gone has taken the context with it. */
    return relay_link_state(context->link) == CUDA_SUCCESS ? result : CUDA_SUCCESS;
}

static struct relay_context *take_place(struct relay_link *link)
{
    static unsigned from = 1; /* 0 is no context */
    for (unsigned i = 0; i < PLACES - 1; i++) {
        struct relay_context *place = &places[from];
        uint16_t number = (uint16_t)from;
        from = from + 1 < PLACES ? from + 1 : 1;
        if (place->alive || place->primary)
            continue;
        unsigned generation = place->generation;
        *place = (struct relay_context){.link = link, .number = number, .generation = generation};
        place->handle = handle_of(place);
        return place;
    }
    return NULL;
}

void context_prepare_primary(struct relay_link *link, CUcontext handle)
{
    struct relay_context *primary = take_place(link);
    primary->primary = true;
    primary->version = 3020;
    if (handle)
        primary->handle = handle;
    primaries[link->device] = primary;
}

CUresult context_create(struct relay_link *link, unsigned flags, unsigned version, struct relay_context **made)
{
    pthread_mutex_lock(&lock);
    struct relay_context *context = take_place(link);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (context) {
        context->flags = flags;
        context->version = version;
        context->retained = 1;
        result = begin(context);
    }
    pthread_mutex_unlock(&lock);
    *made = context;
    return result;
}

CUresult context_retain(struct relay_context *primary)
{
    pthread_mutex_lock(&lock);
    CUresult result = primary->alive ? CUDA_SUCCESS : begin(primary);
    if (result == CUDA_SUCCESS)
        primary->retained++;
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult context_release(struct relay_context *primary)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (!primary->alive || primary->retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--primary->retained == 0)
        result = end(primary);
    pthread_mutex_unlock(&lock);
    return result;
}

/* As with the driver, a release after a reset is allowed and finds the context inactive. */
CUresult context_reset(struct relay_context *primary)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    primary->retained = 0;
    if (primary->alive)
        result = end(primary);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult context_destroy(struct relay_context *context)
{
    pthread_mutex_lock(&lock);
    CUresult result = context->alive ? end(context) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    pthread_mutex_unlock(&lock);
    return result;
}

void context_each(const struct relay_link *link, void (*visit)(struct relay_context *context))
{
    for (unsigned i = 0; i < PLACES; i++)
        if (places[i].link == link && __atomic_load_n(&places[i].alive, __ATOMIC_ACQUIRE))
            visit(&places[i]);
}

struct relay_context *relay_context_of(CUcontext handle)
{
    if (!handle)
        return relay_current;
    for (unsigned i = 0; i < relay_link_count; i++)
        if (primaries[i]->handle == handle)
            return primaries[i];
    uint64_t value = (uint64_t)(uintptr_t)handle;
    if (relay_handle_type(value) != TESSERA_HANDLE_CONTEXT)
        return NULL;
    struct relay_context *place = &places[value >> 4 & (PLACES - 1)];
    return place->handle == handle ? place : NULL;
}

struct relay_context *relay_primary(struct relay_link *link)
{
    return primaries[link->device];
}

CUresult relay_no_context(void)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!relay_current)
        return callback_inside ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_CONTEXT;
    CUresult state = relay_link_state(relay_current->link);
    return state != CUDA_SUCCESS ? state : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void context_forked(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    for (unsigned i = 0; i < PLACES; i++)
        places[i].alive = false;
}
