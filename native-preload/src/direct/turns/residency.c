#include "direct/turns/residency.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "direct/turns/checkpoint_stubs.h"
#include "session/monotonic_condition.h"
#include "session/segment.h"
#include "session/settings.h"

/* Parts that are zero may be written before they leave. Pinning takes longer than that, so some memory is pinned ahead. */
#define GROWTH_PARTS 8
#define GROWTH_BYTES (256ULL << 20)
#define USUAL_CHUNK_BYTES (64u << 20)
#define LARGE_PARTS                                                                                                    \
    256 /* a larger chunk is at most this part of the device, so that enough of them are in exchange where little is free */
#define SMALL_PARTS 32 /* a chunk is at most this part of a small device: 3 % must be free for an exchange */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct residency states[TESSERA_MAX_DEVICES];
static double zero_shares[TESSERA_MAX_DEVICES]; /* by the last sample */

static void prepare(void)
{
    condition_prepare(&changed);
}

void residency_lock(void)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
}

void residency_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void residency_changed(void)
{
    pthread_cond_broadcast(&changed);
}

bool residency_wait(uint64_t until_ns)
{
    return condition_wait(&changed, &lock, until_ns);
}

struct residency *residency_of(unsigned device)
{
    return &states[device];
}

static struct tessera_residency *words(unsigned device)
{
    return &segment_get()->residency[device];
}

/* Atomic, because the manager reads at any time; sequentially consistent, which the budget rule needs. */
static void tell(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static uint64_t read_word(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* The state to publish. Under any plan, a suspended process publishes SUSPENDED once no call passes to the driver. */
static uint64_t state_to_tell(unsigned device)
{
    bool checkpointed = read_word(&words(device)->flags) & TESSERA_RESIDENCY_CHECKPOINTED;
    return checkpointed && checkpoint_stubs_in_place() ? TESSERA_RESIDENCY_SUSPENDED : states[device].state;
}

static void publish_state(unsigned device)
{
    segment_change_begin();
    tell(&words(device)->state, state_to_tell(device));
    segment_change_end();
}

void residency_sampled(unsigned device, uint64_t filled, uint64_t of)
{
    zero_shares[device] = of ? (double)(of - filled) / (double)of : 0;
    residency_publish(device);
}

uint64_t residency_zero(unsigned device)
{
    const struct residency *r = &states[device];
    uint64_t known = r->closed ? r->zero + r->blank : 0;
    uint64_t unknown = r->needed - r->unseen - (r->closed ? r->looked + r->blank : 0);
    return known + (uint64_t)(zero_shares[device] * (double)unknown);
}

uint64_t residency_backing_needed(unsigned device)
{
    uint64_t zero = residency_zero(device), contents = states[device].needed - zero;
    uint64_t more = contents / GROWTH_PARTS + GROWTH_BYTES;
    return contents + (more < zero ? more : zero);
}

void residency_publish(unsigned device)
{
    const struct residency *r = &states[device];
    struct tessera_residency *w = words(device);
    segment_change_begin();
    tell(&w->resident_bytes, r->resident);
    tell(&w->needed_bytes, r->needed);
    tell(&w->swappable_bytes, r->needed);
    tell(&w->fixed_bytes, r->fixed);
    tell(&w->claimed_bytes, r->claimed);
    tell(&w->cached_bytes, r->cached);
    tell(&w->pinned_held, r->held[TIER_PINNED]);
    tell(&w->pageable_held, r->held[TIER_PAGEABLE]);
    tell(&w->file_held, r->held[TIER_FILE]);
    uint64_t pinned = read_word(&w->pinned_target);
    uint64_t contents = residency_backing_needed(device);
    tell(&w->pinned_wanted, contents);
    tell(&w->pageable_wanted, contents > pinned ? contents - pinned : 0);
    tell(&w->resident_wanted, r->wanted ? r->resident + r->wanted : 0);
    tell(&w->state, state_to_tell(device));
    tell(&w->swapped_bytes, r->swapped);
    tell(&w->zero_bytes, residency_zero(device));
    tell(&w->clean_bytes, r->clean);
    tell(&w->guarantee_wanted, settings()->guarantee_bytes);
    tell(&w->file_limit, settings()->swap_directory[0] ? settings()->swap_file_bytes : 0);
    segment_change_end();
}

void residency_fixed_changed(unsigned device, int64_t by)
{
    residency_lock();
    states[device].fixed += (uint64_t)by;
    residency_publish(device);
    residency_unlock();
}

void residency_claim(unsigned device, int64_t by)
{
    residency_lock();
    states[device].claimed += (uint64_t)by;
    residency_publish(device);
    residency_unlock();
}

bool residency_planned(unsigned device)
{
    return read_word(&words(device)->active) != 0;
}

uint64_t residency_target(unsigned device)
{
    return residency_planned(device) ? read_word(&words(device)->resident_target) : UINT64_MAX;
}

uint64_t residency_capacity(unsigned device)
{
    return residency_planned(device) ? read_word(&words(device)->capacity_bytes) : 0;
}

uint64_t residency_chunk_size(unsigned device)
{
    uint64_t capacity = residency_capacity(device);
    uint64_t bytes = capacity ? capacity : tessera_segment->devices[device].total_bytes, part = bytes / SMALL_PARTS;
    uint64_t size = CHUNK_BYTES;
    while (size > USUAL_CHUNK_BYTES && bytes / LARGE_PARTS < size)
        size /= 2;
    if (part >= size)
        return size;
    return part > CHUNK_UNIT ? part / CHUNK_UNIT * CHUNK_UNIT : CHUNK_UNIT;
}

bool residency_possible(unsigned device, uint64_t bytes)
{
    uint64_t limit = residency_planned(device) ? read_word(&words(device)->resident_limit) : 0;
    uint64_t capacity = residency_capacity(device), needed;
    if (__builtin_add_overflow(states[device].needed, bytes, &needed))
        return false;
    return (!limit || needed <= limit) && (!capacity || needed + states[device].fixed <= capacity);
}

bool residency_short(unsigned device)
{
    return residency_planned(device) && (read_word(&words(device)->flags) & TESSERA_RESIDENCY_SHORT);
}

uint64_t residency_left(unsigned device, uint64_t total)
{
    residency_lock();
    uint64_t own = states[device].needed + states[device].fixed;
    residency_unlock();
    uint64_t capacity = residency_capacity(device);
    if (capacity && capacity < total)
        total = capacity;
    return total > own ? total - own : 0;
}

uint64_t residency_free(unsigned device, uint64_t free_bytes, uint64_t total)
{
    uint64_t limit = residency_planned(device) ? read_word(&words(device)->resident_limit) : 0;
    residency_lock();
    uint64_t fixed = states[device].fixed, cached = states[device].cached;
    residency_unlock();
    if (!residency_planned(device))
        return free_bytes + cached;
    if (limit && limit + fixed < total)
        total = limit + fixed; /* the rest is memory that other clients can never release */
    return residency_left(device, total);
}

/*
 * The budget rule: stores what is held, then reads the target again. The manager stores a lower target, then reads what
 * is held. So at least one of the two sees the other's store.
 */
static bool raise_held(uint64_t *held, uint64_t *word, uint64_t bytes, uint64_t (*target)(unsigned), unsigned device)
{
    uint64_t wanted;
    if (__builtin_add_overflow(*held, bytes, &wanted) || wanted > target(device))
        return false;
    segment_change_begin();
    tell(word, wanted);
    bool allowed = wanted <= target(device);
    if (!allowed)
        tell(word, *held);
    segment_change_end();
    if (allowed)
        *held = wanted;
    return allowed;
}

bool residency_raise(unsigned device, uint64_t bytes)
{
    return raise_held(&states[device].resident, &words(device)->resident_bytes, bytes, residency_target, device);
}

void residency_lower(unsigned device, uint64_t bytes)
{
    states[device].resident -= bytes;
    residency_publish(device);
}

void residency_regain(unsigned device, uint64_t bytes)
{
    states[device].resident += bytes;
    residency_publish(device);
}

static uint64_t pinned_target(unsigned device)
{
    return residency_planned(device) ? read_word(&words(device)->pinned_target) : 0;
}

static uint64_t pageable_target(unsigned device)
{
    return residency_planned(device) ? read_word(&words(device)->pageable_target) : 0;
}

static uint64_t file_target(unsigned device)
{
    (void)device; /* the budget is the process's, from its environment */
    return settings()->swap_directory[0] ? settings()->swap_file_bytes : 0;
}

static uint64_t (*const host_targets[TIERS])(unsigned) = {pinned_target, pageable_target, file_target};

static uint64_t *host_word(unsigned device, enum host_tier tier)
{
    struct tessera_residency *w = words(device);
    uint64_t *const of[TIERS] = {&w->pinned_held, &w->pageable_held, &w->file_held};
    return of[tier];
}

uint64_t residency_host_target(unsigned device, enum host_tier tier)
{
    return host_targets[tier](device);
}

bool residency_raise_host(unsigned device, enum host_tier tier, uint64_t bytes)
{
    return raise_held(&states[device].held[tier], host_word(device, tier), bytes, host_targets[tier], device);
}

void residency_lower_host(unsigned device, enum host_tier tier, uint64_t bytes)
{
    states[device].held[tier] -= bytes;
    residency_publish(device);
}

void residency_count(unsigned device, uint64_t offset, uint64_t amount)
{
    segment_change_begin();
    __atomic_fetch_add((uint64_t *)((char *)words(device) + offset), amount, __ATOMIC_RELAXED);
    segment_change_end();
}

void residency_drained(unsigned device)
{
    residency_lock();
    states[device].closed = true;
    residency_changed();
    residency_unlock();
}

bool residency_open(unsigned device)
{
    residency_lock();
    struct residency *r = &states[device];
    bool all = r->present == r->needed;
    if (all && r->closed) {
        r->closed = false;
        r->openings++;
        r->blank = 0; /* as is_blank() says of every chunk from now on: all are resident */
        residency_changed();
    }
    residency_unlock();
    return all;
}

void residency_begin(unsigned device, bool closed)
{
    residency_lock();
    states[device].closed = closed;
    residency_changed();
    residency_unlock();
}

void residency_orders(unsigned device)
{
    residency_lock();
    if (states[device].used)
        residency_publish(device); /* wanted pageable memory depends on the target of pinned memory */
    else if (read_word(&words(device)->state) != state_to_tell(device))
        publish_state(device);
    residency_changed();
    residency_unlock();
}

void residency_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_once(&once, prepare);
    prepare();
    memset(states, 0, sizeof states);
    memset(zero_shares, 0, sizeof zero_shares);
}
