#include "graphs/user_object.h"

#include <pthread.h>
#include <stdlib.h>

#include "entry.h"
#include "graphs/graph.h"

struct user_object {
    unsigned references;
    void (*destroy)(void *);
    void *data;
};

/* As the driver does it: on a thread of its own, from which no call of the driver is allowed. */
static void *destroy(void *argument)
{
    struct user_object *o = argument;
    driver_in_callback = true;
    o->destroy(o->data);
    free(o);
    return NULL;
}

static void give(struct user_object *o, unsigned references)
{
    o->references -= references;
    if (o->references)
        return;
    pthread_t thread;
    handle_drop(HANDLE_USER_OBJECT, o);
    if (pthread_create(&thread, NULL, destroy, o) != 0)
        abort();
    pthread_detach(thread);
}

static void append(struct user_objects *list, struct user_object *o)
{
    list->items = realloc(list->items, (list->count + 1) * sizeof(struct user_object *));
    if (!list->items)
        abort();
    list->items[list->count++] = o;
}

void user_objects_share(struct user_objects *to, const struct user_objects *from)
{
    for (size_t i = 0; i < from->count; i++) {
        from->items[i]->references++;
        append(to, from->items[i]);
    }
}

void user_objects_release(struct user_objects *list)
{
    for (size_t i = 0; i < list->count; i++)
        give(list->items[i], 1);
    free(list->items);
    *list = (struct user_objects){NULL, 0};
}

EXPORT CUresult cuUserObjectCreate(struct user_object **out, void *data, void (*destructor)(void *),
                                   unsigned references, unsigned flags)
{
    ENTER(cuUserObjectCreate);
    if (!out || !destructor || references == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct user_object *o = calloc(1, sizeof *o);
    if (!o)
        return ERROR_OUT_OF_MEMORY;
    *o = (struct user_object){references, destructor, data};
    handle_add(HANDLE_USER_OBJECT, o);
    *out = o;
    return OK;
}

EXPORT CUresult cuUserObjectRetain(struct user_object *o, unsigned count)
{
    ENTER(cuUserObjectRetain);
    LOCKED;
    if (!handle_is(HANDLE_USER_OBJECT, o) || count == 0)
        return ERROR_INVALID_VALUE;
    o->references += count;
    return OK;
}

EXPORT CUresult cuUserObjectRelease(struct user_object *o, unsigned count)
{
    ENTER(cuUserObjectRelease);
    LOCKED;
    if (!handle_is(HANDLE_USER_OBJECT, o) || count == 0 || count > o->references)
        return ERROR_INVALID_VALUE;
    give(o, count);
    return OK;
}

EXPORT CUresult cuGraphRetainUserObject(struct graph *g, struct user_object *o, unsigned count, unsigned flags)
{
    ENTER(cuGraphRetainUserObject);
    LOCKED;
    if (!handle_is(HANDLE_GRAPH, g) || !handle_is(HANDLE_USER_OBJECT, o) || count == 0 ||
        flags > CU_GRAPH_USER_OBJECT_MOVE)
        return ERROR_INVALID_VALUE;
    if (flags == 0) /* 1: the caller's references become the graph's */
        o->references += count;
    for (unsigned i = 0; i < count; i++)
        append(&g->objects, o);
    return OK;
}

EXPORT CUresult cuGraphReleaseUserObject(struct graph *g, struct user_object *o, unsigned count)
{
    ENTER(cuGraphReleaseUserObject);
    LOCKED;
    if (!handle_is(HANDLE_GRAPH, g) || count == 0)
        return ERROR_INVALID_VALUE;
    for (size_t i = g->objects.count; i > 0 && count > 0; i--)
        if (g->objects.items[i - 1] == o) {
            g->objects.items[i - 1] = g->objects.items[--g->objects.count];
            give(o, 1);
            count--;
        }
    return count ? ERROR_INVALID_VALUE : OK;
}
