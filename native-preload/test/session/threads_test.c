/* Threads' slots in the segment: one each while there are enough, free again when the thread ends, the last one shared. */
#include "session/threads.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define OWN_SLOTS (TESSERA_MAX_THREADS - 1) /* the last is shared */

static struct tessera_thread *taken[TESSERA_MAX_THREADS + 1];
static pthread_barrier_t all_have, may_end;

static void *take_and_stay(void *at)
{
    struct tessera_thread *slot = *(struct tessera_thread **)at = thread_slot_take();
    CHECK(thread_slot_shared(slot) ? !thread_slot : thread_slot == slot && slot->tid == (uint32_t)syscall(SYS_gettid));
    pthread_barrier_wait(&all_have);
    pthread_barrier_wait(&may_end);
    return NULL;
}

static void *take_and_end(void *at)
{
    *(struct tessera_thread **)at = thread_slot_take();
    return NULL;
}

/* More threads than slots. */
static void crowd(void)
{
    static pthread_t threads[TESSERA_MAX_THREADS + 1];
    pthread_attr_t small;
    CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 256 << 10) == 0);
    pthread_barrier_init(&all_have, NULL, TESSERA_MAX_THREADS + 2);
    pthread_barrier_init(&may_end, NULL, TESSERA_MAX_THREADS + 2);
    for (int i = 0; i <= TESSERA_MAX_THREADS; i++)
        CHECK(pthread_create(&threads[i], &small, take_and_stay, &taken[i]) == 0);
    pthread_barrier_wait(&all_have);
    unsigned users[TESSERA_MAX_THREADS] = {0};
    for (int i = 0; i <= TESSERA_MAX_THREADS; i++)
        users[taken[i] - tessera_segment->threads]++;
    for (unsigned i = 0; i < OWN_SLOTS; i++)
        CHECK(users[i] == 1);
    CHECK(users[OWN_SLOTS] == 2);
    pthread_barrier_wait(&may_end);
    for (int i = 0; i <= TESSERA_MAX_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        CHECK(tessera_segment->threads[i].tid == 0);
}

/* A reused slot goes on counting. */
static void used_again(void)
{
    struct tessera_thread *slot;
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&thread, NULL, take_and_end, &slot) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(slot == &tessera_segment->threads[0] && slot->device_submissions[1] == (uint64_t)i);
        slot->device_submissions[1]++;
    }
    tessera_segment->threads[OWN_SLOTS].device_submissions[1] = 4;
    CHECK(threads_submissions(1) == 7 && threads_submissions(0) == 0);
}

/* A thread inside the driver counts for its device, or for every device if its own is not known. */
static void inside(void)
{
    struct tessera_thread *slot = &tessera_segment->threads[5];
    CHECK(!threads_inside_any() && !threads_inside(0) && !threads_syncing(0));
    *thread_inside(slot) = 1;
    CHECK(threads_inside_any() && threads_inside(0) && threads_inside(3));
    thread_slot_device(slot, 3);
    CHECK(threads_inside_any() && !threads_inside(0) && threads_inside(3));
    *thread_inside(slot) = 0;
    slot->syncing = 1;
    CHECK(!threads_inside_any() && !threads_inside(3) && !threads_syncing(0) && threads_syncing(3));
    slot->syncing = 0;
    CHECK(!threads_syncing(3));
    struct tessera_thread *shared = &tessera_segment->threads[OWN_SLOTS];
    thread_slot_device(shared, 3); /* of several threads the device is not known */
    *thread_inside(shared) = 1;
    CHECK(threads_inside(0) && threads_inside(3));
    *thread_inside(shared) = 0;
}

static void forked(void)
{
    struct tessera_thread *slot = thread_slot_take();
    CHECK(thread_slot == slot && !thread_slot_shared(slot));
    *thread_inside(slot) = 1;
    thread_slot_device(slot, 3);
    threads_forked();
    CHECK(!thread_slot && !threads_inside_any());
    CHECK(thread_slot_take() != slot); /* still the parent's, as far as this process can tell */
}

int main(void)
{
    alarm(HANGS_S);
    CHECK(segment_open());
    crowd();
    used_again();
    inside();
    forked();
    return 0;
}
