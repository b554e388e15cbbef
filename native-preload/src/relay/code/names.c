#include "relay/code/names.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "relay/memory/range.h"

#define BUCKETS 8192u

struct name {
    struct name *next;
    uint64_t owner;
    uint32_t hash;
    uint32_t kind;
    struct name_answer answer;
    bool anonymous;
    char text[];
};

static struct name *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*forgotten)(uint64_t function);

void names_on_forget(void (*wanted)(uint64_t function))
{
    forgotten = wanted;
}

static uint32_t hash_of(uint64_t owner, unsigned kind, const char *name)
{
    uint64_t hash = (owner ^ kind) * 0x9e3779b97f4a7c15ULL;
    for (; *name; name++) /* FNV-1a */
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3ULL;
    return (uint32_t)(hash >> 24);
}

static struct name *find(uint64_t owner, unsigned kind, uint32_t hash, const char *text)
{
    struct name *name = buckets[hash % BUCKETS];
    while (name && (name->hash != hash || name->owner != owner || name->kind != kind || name->anonymous ||
                    strcmp(name->text, text) != 0))
        name = name->next;
    return name;
}

bool names_find(uint64_t owner, enum name_kind kind, const char *text, struct name_answer *answer)
{
    uint32_t hash = hash_of(owner, kind, text);
    pthread_mutex_lock(&lock);
    const struct name *name = find(owner, kind, hash, text);
    if (name)
        *answer = name->answer;
    pthread_mutex_unlock(&lock);
    return name != NULL;
}

void names_put(uint64_t owner, enum name_kind kind, const char *text, struct name_answer answer)
{
    size_t bytes = text ? strlen(text) + 1 : 1;
    struct name *name = calloc(1, sizeof *name + bytes);
    if (!name)
        return;
    *name = (struct name){.owner = owner,
                          .hash = hash_of(owner, kind, text ? text : ""),
                          .kind = kind,
                          .answer = answer,
                          .anonymous = text == NULL};
    if (text)
        memcpy(name->text, text, bytes);
    pthread_mutex_lock(&lock);
    struct name *known = text ? find(owner, kind, name->hash, text) : NULL;
    if (!known) {
        name->next = buckets[name->hash % BUCKETS];
        buckets[name->hash % BUCKETS] = name;
    }
    pthread_mutex_unlock(&lock);
    if (known)
        free(name);
}

const char *names_of(uint64_t value, enum name_kind kind)
{
    const char *text = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < BUCKETS && !text; i++)
        for (const struct name *name = buckets[i]; name && !text; name = name->next)
            if (name->answer.value == value && name->kind == (uint32_t)kind && !name->anonymous)
                text = name->text;
    pthread_mutex_unlock(&lock);
    return text;
}

static struct name *take_of(uint64_t owner)
{
    struct name *taken = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct name **link = &buckets[i]; *link;) {
            struct name *name = *link;
            if (name->owner != owner) {
                link = &name->next;
                continue;
            }
            *link = name->next;
            name->next = taken;
            taken = name;
        }
    pthread_mutex_unlock(&lock);
    return taken;
}

void names_forget(uint64_t owner)
{
    struct name *name = take_of(owner);
    while (name) {
        struct name *next = name->next;
        bool kernel = name->kind == NAME_FUNCTION || name->kind == NAME_KERNEL;
        if (kernel && forgotten)
            forgotten(name->answer.value);
        if (!kernel)
            relay_range_remove(name->answer.value, RELAY_RANGE_GLOBAL, NULL);
        free(name);
        name = next;
    }
}
