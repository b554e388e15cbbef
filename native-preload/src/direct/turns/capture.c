#include "direct/turns/capture.h"

#include <pthread.h>
#include <string.h>

#include "session/report.h"
#include "session/segment.h"

#define MAX_CAPTURES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uintptr_t stream; /* 0: free */
    int device;
    pthread_t thread; /* the thread that began the capture */
} captures[MAX_CAPTURES];
static unsigned open_count;

bool capture_open_any(void)
{
    return __atomic_load_n(&open_count, __ATOMIC_ACQUIRE) != 0;
}

bool capture_open(unsigned device)
{
    bool found = false;
    if (!capture_open_any())
        return false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CAPTURES && !found; i++)
        found = captures[i].stream && (captures[i].device < 0 || captures[i].device == (int)device);
    pthread_mutex_unlock(&lock);
    return found;
}

bool capture_of_caller(void)
{
    bool found = false;
    if (!capture_open_any())
        return false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CAPTURES && !found; i++)
        found = captures[i].stream && pthread_equal(captures[i].thread, pthread_self());
    pthread_mutex_unlock(&lock);
    return found;
}

bool capture_shield(void)
{
    if (capture_open_any() || pthread_mutex_trylock(&lock) != 0)
        return false;
    if (open_count == 0)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

bool capture_shield_wait(void)
{
    pthread_mutex_lock(&lock);
    if (open_count == 0)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

void capture_unshield(void)
{
    pthread_mutex_unlock(&lock);
}

static void change_count(int device, int by)
{
    __atomic_store_n(&open_count, open_count + (unsigned)by, __ATOMIC_RELEASE);
    if (device < 0)
        return;
    segment_change_begin();
    tessera_segment->devices[device].capturing += (uint64_t)(int64_t)by;
    segment_change_end();
}

void capture_hold(void)
{
    pthread_mutex_lock(&lock);
}

void capture_begun(uintptr_t stream, int device)
{
    for (int i = 0; i < MAX_CAPTURES; i++)
        if (captures[i].stream == 0) {
            captures[i].stream = stream;
            captures[i].device = device;
            captures[i].thread = pthread_self();
            change_count(device, 1);
            segment_count(TESSERA_COUNTER_CAPTURES, 1);
            return;
        }
    report_error(0, "more than %d stream captures at once: a turn may end inside one", MAX_CAPTURES);
}

void capture_ended(uintptr_t stream)
{
    for (int i = 0; i < MAX_CAPTURES; i++)
        if (stream && captures[i].stream == stream) { /* 0 marks a free entry, and a program may destroy stream 0 */
            captures[i].stream = 0;
            change_count(captures[i].device, -1);
            return;
        }
}

void capture_stream_destroyed(uintptr_t stream)
{
    if (!capture_open_any())
        return;
    pthread_mutex_lock(&lock);
    capture_ended(stream);
    pthread_mutex_unlock(&lock);
}

void capture_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(captures, 0, sizeof captures);
    open_count = 0;
}
