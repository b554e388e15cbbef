#include "session/quota.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "driver/clock.h"
#include "session/manager.h"
#include "session/monotonic_condition.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t granted[TESSERA_MAX_DEVICES]; /* usable without asking: the lease while governed, else own_limit */
static uint64_t answers[TESSERA_MAX_DEVICES];
static bool governed[TESSERA_MAX_DEVICES];
static uint64_t graph_bytes[TESSERA_MAX_DEVICES];
static uint64_t own_limit; /* from the settings; UINT64_MAX: none */

static void govern_no_more(unsigned device)
{
    governed[device] = false;
    granted[device] = own_limit;
}

static void prepare(void)
{
    segment_open();
    own_limit = settings()->limit_bytes ? settings()->limit_bytes : UINT64_MAX;
    for (unsigned device = 0; device < TESSERA_MAX_DEVICES; device++)
        govern_no_more(device);
    condition_prepare(&answered);
}

/* Takes the lock. The first call also reads own_limit and opens the segment. */
static void hold(void)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
}

/* With the lock. */
static void publish(unsigned device, uint64_t used)
{
    segment_change_begin();
    struct tessera_device *b = &tessera_segment->devices[device];
    b->used_bytes = used;
    b->granted_bytes = granted[device];
    segment_change_end();
}

/* With the lock, which is released meanwhile: waits for an answer after number `seen`. False: none in time. */
static bool await_answer(unsigned device, uint64_t seen, uint64_t until_ns)
{
    while (governed[device] && answers[device] == seen)
        if (!condition_wait(&answered, &lock, until_ns))
            return false;
    return true;
}

bool quota_take(unsigned device, uint64_t bytes)
{
    uint64_t until_ns = 0;
    bool asked = false, taken = false;
    hold();
    struct tessera_device *b = &tessera_segment->devices[device];
    for (;;) {
        uint64_t used = b->used_bytes, limit = granted[device], wanted;
        if (__builtin_add_overflow(used, bytes, &wanted))
            break;
        taken = wanted <= limit;
        if (taken) {
            publish(device, wanted);
            break;
        }
        if (!governed[device] || (asked && answers[device] != 0))
            break;
        if (until_ns == 0)
            until_ns = monotonic_ns() + settings()->manager_timeout_ns; /* SPEC.md, section 5 */
        uint64_t seen = answers[device];
        if (seen != 0) {
            asked = manager_quota(TESSERA_MSG_QUOTA_ASK, device, wanted - limit);
            if (!asked)
                break;
        }
        if (!await_answer(device, seen, until_ns)) {
            if (seen != 0)
                break;
            /* The manager has never sent a lease. It must not make the device look full. */
            govern_no_more(device);
            report_error(-ETIMEDOUT, "the manager gave no lease for device %u: the process's own limit holds", device);
        }
    }
    pthread_mutex_unlock(&lock);
    if (!taken)
        segment_count(TESSERA_COUNTER_LIMIT_REFUSALS, 1);
    return taken;
}

void quota_give(unsigned device, uint64_t bytes)
{
    hold();
    uint64_t used = tessera_segment->devices[device].used_bytes;
    publish(device, used > bytes ? used - bytes : 0);
    pthread_mutex_unlock(&lock);
}

void quota_settled(unsigned device)
{
    hold();
    segment_change_begin();
    struct tessera_device *b = &tessera_segment->devices[device];
    if (b->used_bytes > b->peak_bytes)
        b->peak_bytes = b->used_bytes;
    segment_change_end();
    pthread_mutex_unlock(&lock);
}

void quota_managed(unsigned device, int64_t bytes)
{
    hold();
    segment_change_begin();
    tessera_segment->devices[device].managed_bytes += (uint64_t)bytes;
    segment_change_end();
    pthread_mutex_unlock(&lock);
}

void quota_graph_memory(unsigned device, uint64_t bytes)
{
    hold();
    uint64_t used = tessera_segment->devices[device].used_bytes - graph_bytes[device] + bytes;
    graph_bytes[device] = bytes;
    publish(device, used);
    pthread_mutex_unlock(&lock);
}

uint64_t quota_limit(unsigned device)
{
    hold();
    uint64_t limit = governed[device] ? tessera_segment->devices[device].limit_bytes : settings()->limit_bytes;
    pthread_mutex_unlock(&lock);
    return limit;
}

uint64_t quota_used(unsigned device)
{
    hold();
    const struct tessera_device *b = &tessera_segment->devices[device];
    uint64_t elsewhere = governed[device] ? __atomic_load_n(&b->tenant_elsewhere_bytes, __ATOMIC_RELAXED) : 0;
    uint64_t used = b->used_bytes + elsewhere;
    pthread_mutex_unlock(&lock);
    return used;
}

void quota_await_lease(unsigned device)
{
    hold();
    governed[device] = true;
    granted[device] = 0;
    answers[device] = 0;
    pthread_mutex_unlock(&lock);
}

void quota_answer(unsigned device, uint64_t granted_bytes)
{
    hold();
    if (governed[device]) {
        bool first = answers[device]++ == 0;
        granted[device] = granted_bytes;
        uint64_t used = tessera_segment->devices[device].used_bytes;
        publish(device, used);
        /* The client registered again with memory in use, so the lease has to cover this memory first. */
        if (first && used > granted_bytes)
            manager_quota(TESSERA_MSG_QUOTA_ASK, device, used - granted_bytes);
        pthread_cond_broadcast(&answered);
    }
    pthread_mutex_unlock(&lock);
}

void quota_trim(unsigned device)
{
    hold();
    uint64_t used = tessera_segment->devices[device].used_bytes;
    if (governed[device] && granted[device] != UINT64_MAX && granted[device] > used)
        granted[device] = used;
    publish(device, used);
    if (governed[device])
        manager_quota(TESSERA_MSG_QUOTA_RETURN, device, granted[device]);
    pthread_mutex_unlock(&lock);
}

void quota_disconnected(void)
{
    hold();
    for (unsigned device = 0; device < TESSERA_MAX_DEVICES; device++)
        govern_no_more(device);
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&lock);
}

void quota_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_once(&once, prepare);
    prepare();
    memset(answers, 0, sizeof answers);
    memset(graph_bytes, 0, sizeof graph_bytes);
}
