#include "direct/turns/device_pause.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "direct/turns/capture.h"
#include "direct/turns/devices.h"
#include "direct/turns/turns_thread.h"
#include "direct/turns/membarrier.h"
#include "session/monotonic_condition.h"
#include "session/threads.h"
#include "direct/turns/turns.h"

#define INSIDE_POLL_US 20
#define CAPTURE_POLL_US 200

enum stage { STAGE_NONE, STAGE_ASKED, STAGE_REACHED, STAGE_GIVEN_UP };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum stage stages[TESSERA_MAX_DEVICES];

static void prepare(void)
{
    condition_prepare(&changed);
}

static void set_stage(unsigned device, enum stage stage)
{
    __atomic_store_n(&stages[device], stage, __ATOMIC_RELEASE); /* atomic, because it is also read without the lock */
    pthread_cond_broadcast(&changed);
}

bool device_pause_begin(unsigned device, uint64_t until_ns)
{
    pthread_once(&once, prepare);
    bool in_time = true;
    pthread_mutex_lock(&lock);
    while (stages[device] != STAGE_NONE && in_time) /* a pause of another thread */
        in_time = condition_wait(&changed, &lock, until_ns);
    bool mine = stages[device] == STAGE_NONE;
    if (mine)
        set_stage(device, STAGE_ASKED);
    pthread_mutex_unlock(&lock);
    if (!mine)
        return false;
    turns_thread_wake(device);
    pthread_mutex_lock(&lock);
    in_time = true;
    while (stages[device] == STAGE_ASKED && in_time)
        in_time = condition_wait(&changed, &lock, until_ns);
    bool reached = stages[device] == STAGE_REACHED;
    if (!reached) { /* the turns thread may still wait for the device, so the gate opens here */
        set_stage(device, STAGE_GIVEN_UP);
        turns_resume(device);
    }
    pthread_mutex_unlock(&lock);
    if (!reached)
        turns_thread_wake(device);
    return reached;
}

void device_pause_end(unsigned device)
{
    pthread_mutex_lock(&lock);
    turns_resume(device);
    set_stage(device, STAGE_NONE);
    pthread_mutex_unlock(&lock);
}

static bool is_asked(unsigned device)
{
    return __atomic_load_n(&stages[device], __ATOMIC_ACQUIRE) == STAGE_ASKED;
}

/* Closes the gate under the lock, so that a thread that gives up either reopens it or prevents this. */
static bool pause_if_asked(unsigned device)
{
    pthread_mutex_lock(&lock);
    bool asked = stages[device] == STAGE_ASKED;
    if (asked)
        turns_pause(device);
    pthread_mutex_unlock(&lock);
    return asked;
}

/* Closes the gate and waits until no submission is inside the driver and no capture is open. False: given up. */
static bool stop_submissions(unsigned device)
{
    for (;;) {
        if (!pause_if_asked(device))
            return false;
        membarrier_all();
        while (threads_inside(device)) {
            if (!is_asked(device))
                return false;
            usleep(INSIDE_POLL_US);
        }
        if (!capture_open(device))
            return true;
        turns_resume(device);
        while (capture_open(device)) {
            if (!is_asked(device))
                return false;
            usleep(CAPTURE_POLL_US);
        }
    }
}

void device_pause_step(unsigned device)
{
    if (__atomic_load_n(&stages[device], __ATOMIC_ACQUIRE) == STAGE_NONE)
        return;
    if (is_asked(device) && stop_submissions(device))
        devices_synchronise(device);
    pthread_mutex_lock(&lock);
    if (stages[device] == STAGE_ASKED) {
        set_stage(device, STAGE_REACHED);
    } else if (stages[device] == STAGE_GIVEN_UP) {
        turns_resume(device);
        set_stage(device, STAGE_NONE);
    }
    pthread_mutex_unlock(&lock);
}

void device_pause_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_once(&once, prepare);
    prepare();
    memset(stages, 0, sizeof stages);
}
