#include "relay/streams/graph_references.h"

#include <pthread.h>
#include <stdlib.h>

#include "relay/wire/callbacks.h"
#include "session/hash_table.h"

/* A thing that is held, shared by its holders. */
struct thing {
    unsigned holders;
    unsigned count;             /* references to the object */
    struct user_object *object; /* NULL: a word */
    struct relay_link *link;
    int word;
};

struct held {
    struct held *next;
    struct thing *thing;
};

struct holder {
    struct held *first;
};

static struct table holders = TABLE_INITIAL;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. NULL: no memory. */
static struct holder *holder_of(uint64_t key)
{
    struct holder *holder = table_find(&holders, key);
    if (holder)
        return holder;
    holder = calloc(1, sizeof *holder);
    if (holder && !table_put(&holders, key, holder)) {
        free(holder);
        holder = NULL;
    }
    return holder;
}

/* Under the lock. */
static bool hold(struct holder *holder, struct thing *thing)
{
    struct held *held = malloc(sizeof *held);
    if (!held)
        return false;
    thing->holders++;
    *held = (struct held){holder->first, thing};
    holder->first = held;
    return true;
}

static bool add(uint64_t key, struct thing what)
{
    struct thing *thing = malloc(sizeof *thing);
    if (!thing)
        return false;
    *thing = what;
    pthread_mutex_lock(&lock);
    struct holder *holder = holder_of(key);
    bool done = holder && hold(holder, thing);
    pthread_mutex_unlock(&lock);
    if (!done)
        free(thing);
    return done;
}

bool graph_references_add_word(uint64_t holder, struct relay_link *link, int word)
{
    return add(holder, (struct thing){.link = link, .word = word});
}

bool graph_references_add_object(uint64_t holder, struct user_object *object, unsigned count)
{
    return add(holder, (struct thing){.object = object, .count = count});
}

unsigned graph_references_remove_object(uint64_t key, const struct user_object *object, unsigned count)
{
    unsigned removed = 0;
    pthread_mutex_lock(&lock);
    struct holder *holder = table_find(&holders, key);
    for (struct held *held = holder ? holder->first : NULL; held && removed < count; held = held->next) {
        struct thing *thing = held->thing;
        if (thing->object != object)
            continue;
        unsigned taken = thing->count < count - removed ? thing->count : count - removed;
        thing->count -= taken;
        removed += taken;
    }
    pthread_mutex_unlock(&lock);
    return removed;
}

CUresult graph_references_copy(uint64_t from, uint64_t to)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    struct holder *source = table_find(&holders, from);
    struct holder *target = source && source->first ? holder_of(to) : NULL;
    if (source && source->first && !target)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    for (struct held *held = target ? source->first : NULL; held && result == CUDA_SUCCESS; held = held->next)
        if (!hold(target, held->thing))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&lock);
    return result;
}

static void release(struct held *held)
{
    while (held) {
        struct held *next = held->next;
        struct thing *thing = held->thing;
        pthread_mutex_lock(&lock);
        bool last = --thing->holders == 0;
        pthread_mutex_unlock(&lock);
        if (last && thing->object)
            user_object_release(thing->object, thing->count);
        else if (last)
            callback_release(thing->link, thing->word);
        if (last)
            free(thing);
        free(held);
        held = next;
    }
}

static struct held *take(uint64_t key)
{
    pthread_mutex_lock(&lock);
    struct holder *holder = table_take(&holders, key);
    struct held *first = holder ? holder->first : NULL;
    pthread_mutex_unlock(&lock);
    free(holder);
    return first;
}

void graph_references_move(uint64_t from, uint64_t to)
{
    if (graph_references_copy(from, to) == CUDA_SUCCESS) /* otherwise kept under a key that is never ended */
        graph_references_end(from);
}

void graph_references_end(uint64_t holder)
{
    release(take(holder));
}

bool graph_references_any(uint64_t holder)
{
    if (!table_find(&holders, holder)) /* most launches need no lock */
        return false;
    pthread_mutex_lock(&lock);
    const struct holder *known = table_find(&holders, holder);
    bool any = known && known->first;
    pthread_mutex_unlock(&lock);
    return any;
}
