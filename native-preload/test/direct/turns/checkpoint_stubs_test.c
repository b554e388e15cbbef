/*
 * While the manager says that the process is off its devices, a call of any entry waits, and then runs with its own arguments. The
 * test plays the manager, and acts while a call waits.
 */
#include "direct/turns/checkpoint_stubs.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "direct/turns/orders.h"
#include "scripted_driver.h"

#define CALLERS 4
#define CALL(name) ((pfn_##name)__atomic_load_n(&tessera_port[ENTRY_##name], __ATOMIC_ACQUIRE))

static void *before[TESSERA_ENTRY_COUNT];
static unsigned sleeps;
static void (*at_third_sleep)(void);
static unsigned launches;
static float got;
static bool no_memory;

static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                       void **extra)
{
    CHECK(function == (CUfunction)0xf0 && grid_x == 1 && grid_y == 2 && grid_z == 3 && block_x == 4 && block_y == 5);
    CHECK(block_z == 6 && shared_bytes == 7 && stream == (CUstream)0x50 && parameters == (void **)0x60 &&
          extra == (void **)0x70);
    __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
    return CUDA_ERROR_NOT_READY;
}

static CUresult set_parameter(CUfunction function, int offset, float value)
{
    CHECK(function == (CUfunction)0xf0 && offset == 12);
    got = value;
    return CUDA_SUCCESS;
}

static CUresult other(unsigned flags)
{
    return flags == 9 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool launched(void)
{
    return CALL(cuLaunchKernel)((CUfunction)0xf0, 1, 2, 3, 4, 5, 6, 7, (CUstream)0x50, (void **)0x60, (void **)0x70) ==
           CUDA_ERROR_NOT_READY;
}

int usleep(useconds_t us)
{
    (void)us;
    if (__atomic_add_fetch(&sleeps, 1, __ATOMIC_RELAXED) == 3 && at_third_sleep)
        at_third_sleep();
    nanosleep(&(struct timespec){0, 100000}, NULL);
    return 0;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (!no_memory)
        return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static void set_away(unsigned device, bool away)
{
    __atomic_store_n(&tessera_segment->residency[device].flags, away ? TESSERA_RESIDENCY_CHECKPOINTED : 0,
                     __ATOMIC_SEQ_CST);
}

static bool as_before(void)
{
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (tessera_port[i] != before[i])
            return false;
    return true;
}

static void leave(void)
{
    sleeps = 0;
    at_third_sleep = NULL;
    messages(TESSERA_MSG_DOORBELL);
    set_away(0, true);
    CHECK(checkpointed_now());
    checkpoint_stubs_update();
    CHECK(!as_before());
}

static void return_back(void)
{
    set_away(0, false);
    checkpoint_stubs_update();
    CHECK(as_before() && !checkpointed_now());
}

static void present(void)
{
    checkpoint_stubs_update();
    CHECK(as_before() && !checkpointed_now());
    set_away(1, true); /* a device that the process has not opened */
    checkpoint_stubs_update();
    CHECK(as_before() && !checkpointed_now());
    set_away(1, false);
    checkpoint_wait();
    CHECK(sleeps == 0 && messages(TESSERA_MSG_DOORBELL) == 0 && launched() && launches == 1);
}

/* The waiting thread is marked as one that synchronises, so that the manager has the process brought back. */
static void manager_looks(void)
{
    CHECK(thread_slot->syncing == 1 && messages(TESSERA_MSG_DOORBELL) == 1);
    set_away(0, false);
}

static void waits(void)
{
    leave();
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        CHECK(tessera_port[i] != before[i]);
    checkpoint_stubs_update();
    at_third_sleep = manager_looks;
    CHECK(launched() && sleeps == 3 && thread_slot->syncing == 0);
    CHECK(!as_before() && launched() && sleeps == 3); /* back, and the thunks are still there */
    set_away(0, true);
    sleeps = 0;
    CHECK(CALL(cuParamSetf)((CUfunction)0xf0, 12, 1.5f) == CUDA_SUCCESS && got == 1.5f && sleeps == 3);
    return_back();
    CHECK(launched() && sleeps == 3);
}

/* All thread slots are taken: the shared slot is not marked, since nobody would clear the mark. */
static void manager_looks_at_shared(void)
{
    CHECK(tessera_segment->threads[TESSERA_MAX_THREADS - 1].syncing == 0 && messages(TESSERA_MSG_DOORBELL) == 1);
    set_away(0, false);
}

static void *launch_once(void *unused)
{
    (void)unused;
    CHECK(launched());
    return NULL;
}

static void without_a_slot(void)
{
    pthread_t thread;
    uint32_t tid[TESSERA_MAX_THREADS];
    for (unsigned i = 0; i < TESSERA_MAX_THREADS; i++) {
        tid[i] = tessera_segment->threads[i].tid;
        tessera_segment->threads[i].tid = 1;
    }
    leave();
    at_third_sleep = manager_looks_at_shared;
    CHECK(pthread_create(&thread, NULL, launch_once, NULL) == 0 && pthread_join(thread, NULL) == 0 && sleeps == 3);
    return_back();
    for (unsigned i = 0; i < TESSERA_MAX_THREADS; i++)
        tessera_segment->threads[i].tid = tid[i];
}

static void several_threads(void)
{
    pthread_t threads[CALLERS];
    unsigned so_far = launches;
    leave();
    for (unsigned i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_once, NULL) == 0);
    while (__atomic_load_n(&sleeps, __ATOMIC_RELAXED) < 10 * CALLERS)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    CHECK(__atomic_load_n(&launches, __ATOMIC_RELAXED) == so_far);
    set_away(0, false);
    for (unsigned i = 0; i < CALLERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(launches == so_far + CALLERS);
    return_back();
}

/* An entry that is put into the table meanwhile stays, as if it had come before. */
static void changed_meanwhile(void)
{
    leave();
    tessera_port[ENTRY_cuInit] = (void *)other;
    CHECK(CALL(cuInit)(9) == CUDA_SUCCESS && sleeps == 0);
    set_away(0, false);
    checkpoint_stubs_update();
    CHECK(tessera_port[ENTRY_cuInit] == (void *)other);
    tessera_port[ENTRY_cuInit] = before[ENTRY_cuInit];
    CHECK(as_before());
}

/* Without a manager, nobody would bring the process back. */
static void manager_is_lost(void)
{
    leave();
    at_third_sleep = segment_detach;
    CHECK(launched() && sleeps == 3 && !checkpointed_now());
    checkpoint_stubs_update();
    CHECK(as_before());
}

static void detach_without_memory(void)
{
    no_memory = true;
    segment_detach();
    no_memory = false;
}

static void manager_is_lost_without_memory(void)
{
    leave();
    at_third_sleep = detach_without_memory;
    CHECK(launched() && sleeps == 3);
    return_back();
}

static void forked(void)
{
    leave();
    checkpoint_stubs_forked();
    CHECK(as_before());
    leave();
    return_back();
    checkpoint_stubs_forked();
    CHECK(as_before());
}

int main(void)
{
    alarm(HANGS_S);
    driver_load();
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    thread_slot_take();
    manager_comes();
    tessera_port[ENTRY_cuLaunchKernel] = (void *)launch;
    tessera_port[ENTRY_cuParamSetf] = (void *)set_parameter;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        before[i] = tessera_port[i];
    present();
    waits();
    without_a_slot();
    several_threads();
    changed_meanwhile();
    forked();
    manager_is_lost_without_memory();
    manager_is_lost();
    return 0;
}
