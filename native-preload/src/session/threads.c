#include "session/threads.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct tessera_thread *thread_slot __attribute__((tls_model("initial-exec")));

struct thread_depth thread_depths[TESSERA_MAX_THREADS];
uint8_t thread_device[TESSERA_MAX_THREADS];

static pthread_key_t exit_key;
static bool exit_key_made;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

/* At thread exit: frees the slot for another thread. Its counts stay. */
static void free_slot(void *slot)
{
    thread_slot = NULL;
    segment_change_begin();
    __atomic_store_n(&((struct tessera_thread *)slot)->tid, 0, __ATOMIC_RELEASE);
    segment_change_end();
}

static void make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, free_slot) == 0;
}

static struct tessera_thread *take_free(void)
{
    struct tessera_segment *segment = segment_get();
    struct tessera_thread *shared = &segment->threads[TESSERA_MAX_THREADS - 1];
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    for (struct tessera_thread *slot = segment->threads; slot < shared; slot++) {
        uint32_t unused = 0;
        if (__atomic_load_n(&slot->tid, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&slot->tid, &unused, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            if (pthread_setspecific(exit_key, slot) == 0)
                return thread_slot = slot;
            __atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
            return shared;
        }
    }
    return shared;
}

struct tessera_thread *thread_slot_take(void)
{
    segment_get();
    pthread_once(&exit_key_once, make_exit_key);
    if (!exit_key_made) /* a slot that would never be freed must not be taken */
        return &tessera_segment->threads[TESSERA_MAX_THREADS - 1];
    segment_change_begin();
    struct tessera_thread *slot = take_free();
    segment_change_end();
    return slot;
}

static bool concerns(int slot, unsigned device)
{
    uint8_t known = __atomic_load_n(&thread_device[slot], __ATOMIC_RELAXED);
    return known == 0 || known == device + 1;
}

bool threads_inside(unsigned device)
{
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        if (__atomic_load_n(&thread_depths[i].inside, __ATOMIC_ACQUIRE) != 0 && concerns(i, device))
            return true;
    return false;
}

bool threads_inside_any(void)
{
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        if (__atomic_load_n(&thread_depths[i].inside, __ATOMIC_ACQUIRE) != 0)
            return true;
    return false;
}

bool threads_syncing(unsigned device)
{
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        if (__atomic_load_n(&tessera_segment->threads[i].syncing, __ATOMIC_RELAXED) != 0 && concerns(i, device))
            return true;
    return false;
}

uint64_t threads_submissions(unsigned device)
{
    uint64_t sum = 0;
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        sum += __atomic_load_n(&tessera_segment->threads[i].device_submissions[device], __ATOMIC_RELAXED);
    return sum;
}

void threads_forked(void)
{
    memset(thread_device, 0, sizeof thread_device);
    memset(thread_depths, 0, sizeof thread_depths); /* the child does not have these threads */
    thread_slot = NULL;
    if (exit_key_made)
        pthread_setspecific(exit_key, NULL);
}
