/*
 * Context-local storage: what the CUDA runtime keeps for each context (table c693336e). Several runtimes may live in one
 * process; each uses keys of its own. A destructor runs when the context ends, not when its entry is deleted or replaced.
 */
#include <pthread.h>
#include <stdlib.h>

#include "relay/wire/context.h"
#include "relay/entry/context_storage.h"

struct entry {
    struct relay_context *context;
    void *key, *value;
    context_storage_destructor destroy;
    struct entry *next;
};

#define BUCKETS 256u

static struct entry *buckets[BUCKETS];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static struct entry **bucket_of(const struct relay_context *context, const void *key)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)key >> 3 ^ (uint64_t)context->number << 40) * 0x9e3779b97f4a7c15ULL;
    return &buckets[mixed >> 56];
}

static struct entry **find(const struct relay_context *context, const void *key)
{
    struct entry **at = bucket_of(context, key);
    while (*at && ((*at)->context != context || (*at)->key != key))
        at = &(*at)->next;
    return at;
}

CUresult context_storage_put(CUcontext handle, void *key, void *value, context_storage_destructor destroy)
{
    struct relay_context *context = relay_context_of(handle);
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    struct entry *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *fresh = (struct entry){context, key, value, destroy, NULL};
    pthread_rwlock_wrlock(&lock);
    struct entry **at = find(context, key);
    struct entry *old = *at;
    fresh->next = old ? old->next : NULL;
    *at = fresh;
    pthread_rwlock_unlock(&lock);
    free(old);
    return CUDA_SUCCESS;
}

CUresult context_storage_get(void **value, CUcontext handle, void *key)
{
    struct relay_context *context = relay_context_of(handle);
    if (!context)
        return relay_no_context();
    pthread_rwlock_rdlock(&lock);
    const struct entry *found = *find(context, key);
    if (found && value)
        *value = found->value;
    pthread_rwlock_unlock(&lock);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult context_storage_delete(CUcontext handle, void *key)
{
    struct relay_context *context = relay_context_of(handle);
    if (!context)
        return relay_no_context();
    pthread_rwlock_wrlock(&lock);
    struct entry **at = find(context, key);
    struct entry *found = *at;
    if (found)
        *at = found->next;
    pthread_rwlock_unlock(&lock);
    free(found);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The destructors run without the lock: they may use the storage. */
void context_storage_context_ended(struct relay_context *context)
{
    struct entry *ended = NULL;
    pthread_rwlock_wrlock(&lock);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct entry **at = &buckets[i]; *at;) {
            struct entry *entry = *at;
            if (entry->context != context) {
                at = &entry->next;
                continue;
            }
            *at = entry->next;
            entry->next = ended;
            ended = entry;
        }
    }
    pthread_rwlock_unlock(&lock);
    while (ended) {
        struct entry *entry = ended;
        ended = entry->next;
        if (entry->destroy)
            entry->destroy(context->handle, entry->key, entry->value);
        free(entry);
    }
}

void context_storage_forked(void)
{
    pthread_rwlock_init(&lock, NULL);
}
