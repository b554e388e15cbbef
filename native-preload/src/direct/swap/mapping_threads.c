#include "direct/swap/mapping_threads.h"

#include <pthread.h>
#include <stddef.h>

#include "direct/turns/devices.h"
#include "session/own_thread.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "tessera_entries.h"

#define THREADS 2 /* one waits in the kernel while the other prepares its change; more would wait for each other */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static struct page_change *first, **last = &first;
static unsigned threads;

static void carry_out(struct page_change *change)
{
    unsigned device = change->chunk->device;
    void *context = devices_enter(device); /* NVIDIA documents no need for a current context; it does no harm */
    CUresult result = change->fill ? chunk_fill(change->chunk) : chunk_empty(change->chunk);
    if (context)
        devices_leave(context);
    change->result = result;
    __atomic_store_n(&change->ended, true, __ATOMIC_RELEASE); /* from here on the caller may reuse the structure */
    residency_lock();
    residency_changed();
    residency_unlock();
}

static void *run(void *unused)
{
    (void)unused;
    own_thread_relax("a thread for page changes");
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!first)
            pthread_cond_wait(&begun, &lock);
        struct page_change *change = first;
        first = change->next;
        if (!first)
            last = &first;
        pthread_mutex_unlock(&lock);
        carry_out(change);
    }
    return NULL;
}

void mapping_begin(struct page_change *change)
{
    change->ended = false;
    change->next = NULL;
    pthread_mutex_lock(&lock);
    while (threads < THREADS && own_thread_start("tessera-pages", run, NULL))
        threads++;
    bool queued = threads != 0;
    if (queued) {
        *last = change;
        last = &change->next;
        pthread_cond_signal(&begun);
    }
    pthread_mutex_unlock(&lock);
    if (!queued) { /* no thread could be started: the caller makes the change */
        report_error(0, "no thread could be started to map memory: tried again later");
        carry_out(change);
    }
}

bool mapping_ended(const struct page_change *change)
{
    return __atomic_load_n(&change->ended, __ATOMIC_ACQUIRE);
}

void mapping_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&begun, NULL);
    first = NULL;
    last = &first;
    threads = 0;
}
