#include "direct/chunks/shortage.h"

#include <stddef.h>
#include <string.h>

#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "driver/driver_types.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "tessera_entries.h"

#define SAMPLE_NS 1000000000ULL
#define WAITING_SAMPLE_NS 200000000ULL
/* A process may lower its word in the segment before the driver has the memory: a refusal counts after this time. */
#define LASTS_NS 15000000ULL

static uint64_t refused_since_ns[TESSERA_MAX_DEVICES]; /* 0: the last request succeeded */
static uint64_t sampled_ns[TESSERA_MAX_DEVICES];       /* used by the turns thread alone */
static struct {
    uint64_t free_bytes; /* of the last finding; findings at the same time agree */
    bool untold;
} found[TESSERA_MAX_DEVICES];

static struct tessera_residency *words(unsigned device)
{
    return &segment_get()->residency[device];
}

static void tell(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* Asks for the current context's device. */
static bool ask_driver(uint64_t *free_bytes)
{
    size_t free_now = 0, total = 0;
    if (REAL(cuMemGetInfo_v2)(&free_now, &total) != CUDA_SUCCESS)
        return false;
    *free_bytes = free_now;
    return true;
}

void shortage_sample(unsigned device, bool waits)
{
    uint64_t now_ns = monotonic_ns(), free_bytes = 0;
    bool checkpointed = __atomic_load_n(&words(device)->flags, __ATOMIC_ACQUIRE) & TESSERA_RESIDENCY_CHECKPOINTED;
    if (now_ns - sampled_ns[device] < (waits ? WAITING_SAMPLE_NS : SAMPLE_NS) || checkpointed ||
        !residency_planned(device))
        return;
    sampled_ns[device] = now_ns;
    void *context = devices_enter(device);
    if (!context)
        return;
    bool known = ask_driver(&free_bytes);
    devices_leave(context);
    if (!known)
        return;
    segment_change_begin();
    struct tessera_residency *w = words(device);
    tell(&w->driver_free_ns, 0);
    tell(&w->driver_free, free_bytes);
    tell(&w->driver_free_ns, now_ns); /* the time before the query: its answer may lack later changes */
    segment_change_end();
}

bool shortage_lasts(unsigned device, uint64_t *free_bytes)
{
    uint64_t now_ns = monotonic_ns(), since_ns = 0;
    if (__atomic_compare_exchange_n(&refused_since_ns[device], &since_ns, now_ns, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        now_ns - since_ns < LASTS_NS)
        return false;
    *free_bytes = 0;
    ask_driver(free_bytes);
    return true;
}

void shortage_found(unsigned device, uint64_t free_bytes)
{
    __atomic_store_n(&found[device].free_bytes, free_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&found[device].untold, true, __ATOMIC_RELEASE);
}

void shortage_tell(unsigned device)
{
    if (!__atomic_exchange_n(&found[device].untold, false, __ATOMIC_ACQ_REL))
        return;
    segment_change_begin();
    tell(&words(device)->refused_free, __atomic_load_n(&found[device].free_bytes, __ATOMIC_RELAXED));
    __atomic_fetch_add(&words(device)->refusals, 1, __ATOMIC_SEQ_CST);
    segment_change_end();
}

void shortage_over(unsigned device)
{
    if (__atomic_load_n(&refused_since_ns[device], __ATOMIC_RELAXED))
        __atomic_store_n(&refused_since_ns[device], 0, __ATOMIC_RELEASE);
}

void shortage_forked(void)
{
    memset(refused_since_ns, 0, sizeof refused_since_ns);
    memset(sampled_ns, 0, sizeof sampled_ns);
    memset(found, 0, sizeof found);
}
