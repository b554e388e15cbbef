#include "direct/chunks/pinning.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "direct/chunks/backing_step.h"
#include "direct/chunks/kept_copies.h"
#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/turns/turns_thread.h"
#include "session/own_thread.h"
#include "session/report.h"
#include "session/segment.h"
#include "tessera_entries.h"

#define PAGE_BYTES 4096u
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* linux/mman.h, since 5.14 */
#endif
#define RETRY_NS 5000000000ULL /* time to wait after the driver or the system refused a registration */
#define IDLE_NS 1000000000ULL

static bool started;
static uint64_t refused_ns[TESSERA_MAX_DEVICES];

struct registration {
    void *context; /* entered, so that it cannot end before the step records it; NULL: the device has none now */
    CUresult result;
};

/* Registers the memory in one of the device's contexts, and stays in that context until leave(). */
static struct registration pin(unsigned device, char *memory, uint64_t bytes)
{
    struct registration made = {.context = devices_enter(device), .result = CUDA_ERROR_INVALID_CONTEXT};
    if (made.context)
        made.result = REAL(cuMemHostRegister_v2)(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE);
    return made;
}

static bool registered(const struct registration *made)
{
    return made->result == CUDA_SUCCESS || made->result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

/* With the lock, which is released meanwhile: leaves the context that pin() entered. */
static void leave(const struct registration *made)
{
    residency_unlock();
    if (made->context)
        devices_leave(made->context);
    residency_lock();
}

static void unpin(unsigned device, char *memory)
{
    void *context = devices_enter(device);
    if (!context)
        return; /* the last context is ending, which ends the registration */
    CUresult result = REAL(cuMemHostUnregister)(memory);
    /* HOST_MEMORY_NOT_REGISTERED: the context of the registration has ended since. */
    if (result != CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
        report_failure(result, "pinned memory could not be unregistered");
    devices_leave(context);
}

/* With the lock, which is released meanwhile. */
static void drop(struct backing_step *step)
{
    unsigned device = step->device;
    step->busy = true;
    bool registered = step->context != NULL;
    residency_unlock();
    if (registered)
        unpin(device, step->memory);
    step_unmap(step->memory, step->bytes);
    residency_lock();
    residency_lower_host(device, TIER_PINNED, step->bytes);
    step_remove(step);
}

/* Makes the kernel allocate the pages now. The driver would take longer for this during the registration. */
static void populate(char *memory, uint64_t bytes)
{
    if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0)
        return;
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) /* Linux before 5.14 */
        *(volatile char *)(memory + at) = 0;
}

static void refuse(unsigned device, CUresult result)
{
    refused_ns[device] = monotonic_ns();
    if (result != CUDA_ERROR_INVALID_CONTEXT) /* no context is left, so nothing has to move */
        report_failure(result, "host memory of %u MiB could not be pinned: tried again later", PINNED_STEP_BYTES >> 20);
}

/* With the lock, which is released meanwhile: adds a pinned step; false: none is due, or it failed. */
static bool grow(unsigned device)
{
    uint64_t held = residency_of(device)->held[TIER_PINNED], needed = residency_backing_needed(device);
    uint64_t bytes = needed > held ? step_bytes_due(device, TIER_PINNED, needed - held) : 0;
    if (!bytes || !residency_raise_host(device, TIER_PINNED, bytes))
        return false;
    residency_publish(device);
    residency_unlock();
    struct registration made = {.result = CUDA_ERROR_OUT_OF_MEMORY};
    char *memory = step_map(device, bytes);
    if (memory) {
        populate(memory, bytes);
        made = pin(device, memory, bytes);
    }
    residency_lock();
    struct backing_step *step = registered(&made) ? step_add(device, TIER_PINNED, bytes, memory) : NULL;
    if (step) {
        step->context = made.context;
        residency_changed();
        leave(&made);
        residency_unlock();
        turns_thread_wake(device); /* chunks may wait for backing */
        residency_lock();
        return true;
    }
    bool unrecorded = registered(&made);
    leave(&made);
    residency_lower_host(device, TIER_PINNED, bytes);
    refuse(device, made.result);
    if (unrecorded) {
        residency_unlock();
        unpin(device, memory);
        residency_lock();
    }
    if (memory)
        step_unmap(memory, bytes);
    return false;
}

/* With the lock, which is released meanwhile: registers a step again whose registration ended with a context. */
static bool renew(unsigned device)
{
    for (struct backing_step *s = step_first(device); s; s = s->next) {
        if (s->tier != TIER_PINNED || s->context || s->busy)
            continue;
        s->busy = true;
        residency_unlock();
        struct registration made = pin(device, s->memory, s->bytes);
        residency_lock();
        s->busy = false;
        s->context = registered(&made) ? made.context : NULL;
        leave(&made);
        if (!registered(&made))
            refuse(device, made.result);
        return registered(&made);
    }
    return false;
}

static void *run(void *unused)
{
    (void)unused;
    own_thread_relax("the pinning thread");
    residency_lock();
    for (;;) {
        bool grown = false;
        for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
            if (!residency_of(i)->used)
                continue;
            kept_copies_trim(i);
            bool refused = refused_ns[i] && monotonic_ns() - refused_ns[i] < RETRY_NS;
            grown |= !refused && (grow(i) || renew(i));
        }
        if (!grown)
            residency_wait(monotonic_ns() + IDLE_NS);
    }
    return NULL;
}

void pinning_wake(unsigned device)
{
    if (started || !residency_planned(device))
        return;
    step_pinned_drop(drop);
    started = own_thread_start("tessera-pinning", run, NULL);
    if (!started)
        report_error(0, "no thread could be started to pin memory: tried again later");
}

void pinning_forked(void)
{
    started = false;
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        refused_ns[i] = 0;
}
