#include "direct/content/content_sample.h"

#include <stdlib.h>
#include <time.h>

#include "direct/chunks/chunks.h"
#include "direct/content/content_look.h"
#include "direct/turns/devices.h"
#include "direct/turns/residency.h"
#include "driver/clock.h"
#include "session/own_thread.h"
#include "session/report.h"
#include "session/segment.h"

#define CHUNKS 32                 /* of a sample, */
#define SAMPLE_BYTES (2ULL << 30) /* and bytes, about: less than a millisecond of an H100's memory bandwidth */
#define LEAST_BYTES (32ULL << 20) /* less memory is moved faster than it is examined */
#define SHORTEST_NS 500000000ULL  /* first time between samples; doubled while samples agree */
#define LONGEST_NS 16000000000ULL /* longest time between samples */
#define SAME_PARTS 64             /* samples agree if their shares differ by less than 1/64 */
#define LOOK_NS 200000ULL         /* between polls */

static bool started;
static struct sampler {
    uint64_t needed; /* residency.needed, as last seen; a change makes a sample due soon */
    uint64_t due_ns, every_ns;
    uint64_t filled, of; /* of the last sample */
} samplers[TESSERA_MAX_DEVICES];
static uint64_t seed; /* used by the sampling thread alone */

static uint64_t next_random(void)
{
    seed ^= seed << 13; /* xorshift64 (Marsaglia 2003) */
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static bool fits(const struct chunk *chunk)
{
    return chunk->state == CHUNK_RESIDENT && chunk->live && !chunk->fixed && !chunk_never_seen(chunk) &&
           chunk_address(chunk);
}

/* With the lock: how many chunks a sample has. */
static unsigned sample_size(unsigned device)
{
    uint64_t count = 0, bytes = 0;
    for (const struct chunk *chunk = chunk_first(device); chunk; chunk = chunk->next)
        if (fits(chunk)) {
            count++;
            bytes += chunk->bytes;
        }
    uint64_t most = bytes > SAMPLE_BYTES ? (SAMPLE_BYTES * count + bytes - 1) / bytes : count;
    return most < CHUNKS ? (unsigned)most : CHUNKS;
}

/* With the lock: chooses chunks at random, each as likely as any other, and makes them BUSY (Knuth's algorithm R). */
static unsigned choose(unsigned device, struct chunk **chosen)
{
    unsigned seen = 0, size = sample_size(device);
    for (struct chunk *chunk = chunk_first(device); chunk; chunk = chunk->next) {
        if (!fits(chunk))
            continue;
        uint64_t at = seen < size ? seen : next_random() % (seen + 1);
        if (at < size)
            chosen[at] = chunk;
        seen++;
    }
    unsigned count = seen < size ? seen : size;
    for (unsigned i = 0; i < count; i++) {
        chunk_change_begin(chosen[i]);
        chosen[i]->state = CHUNK_BUSY;
        chunk_change_end(chosen[i]);
    }
    return count;
}

/* With the lock. */
static void release(struct chunk *chunk)
{
    chunk_change_begin(chunk);
    chunk->state = CHUNK_RESIDENT;
    chunk_change_end(chunk);
}

/*
 * Examines the chunks, in a context of the device, and adds to *filled the bytes of parts that are not all zero. NULL instead of
 * chunks: runs the kernel for nothing, `count` times. False: not all could be examined.
 */
static bool look_at(unsigned device, const void *context, struct chunk **chunks, unsigned count, uint64_t *filled)
{
    struct looker *looker = looker_of_samples(device);
    struct look look;
    CUresult result;
    unsigned begun = 0, ended = 0;
    bool all = true;
    while (begun < count && look_begin(looker, context, chunks ? chunks[begun] : NULL))
        begun++;
    look_flush(looker);
    while (ended < begun) {
        if (!look_ended(looker, &look, &result)) {
            clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = LOOK_NS}, NULL);
            continue;
        }
        ended++;
        if (result == CUDA_SUCCESS)
            *filled += content_bytes(look.filled);
        else
            all = false;
    }
    return all && begun == count;
}

/* With the lock, which is released meanwhile. */
static void sample(unsigned device)
{
    struct sampler *s = &samplers[device];
    struct chunk *chunks[CHUNKS];
    uint64_t filled = 0, of = 0;
    /*
     * A kernel of the program that never ends must not keep chunks BUSY. So chunks are chosen only after a kernel of the
     * library has run.
     */
    residency_unlock();
    void *context = devices_enter(device);
    bool runs = context && look_at(device, context, NULL, 1, &filled);
    residency_lock();
    unsigned count = runs && !residency_of(device)->closed ? choose(device, chunks) : 0;
    for (unsigned i = 0; i < count; i++)
        of += chunks[i]->bytes;
    residency_unlock();
    bool seen = count && look_at(device, context, chunks, count, &filled);
    if (context)
        devices_leave(context);
    residency_lock();
    for (unsigned i = 0; i < count; i++)
        release(chunks[i]);
    if (!seen || !of)
        return;
    double before = s->of ? (double)s->filled / (double)s->of : -1, now = (double)filled / (double)of;
    bool same = before - now < 1.0 / SAME_PARTS && now - before < 1.0 / SAME_PARTS;
    s->every_ns = !same ? SHORTEST_NS : s->every_ns * 2 < LONGEST_NS ? s->every_ns * 2 : LONGEST_NS;
    s->filled = filled;
    s->of = of;
    residency_sampled(device, filled, of);
}

/* With the lock: whether a sample is due. While the gate is closed nothing changes. */
static bool is_due(unsigned device, uint64_t now_ns)
{
    struct sampler *s = &samplers[device];
    const struct residency *r = residency_of(device);
    if (!r->used || r->closed || r->needed < LEAST_BYTES || !residency_planned(device))
        return false;
    if (r->needed != s->needed) {
        s->needed = r->needed;
        s->every_ns = SHORTEST_NS;
        if (s->due_ns > now_ns + SHORTEST_NS)
            s->due_ns = now_ns + SHORTEST_NS;
    }
    return now_ns >= s->due_ns;
}

static void *run(void *unused)
{
    (void)unused;
    own_thread_relax("the thread that samples memory");
    seed = monotonic_ns() | 1;
    residency_lock();
    for (;;) {
        for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
            if (!is_due(i, monotonic_ns()))
                continue;
            sample(i);
            samplers[i].due_ns = monotonic_ns() + samplers[i].every_ns;
        }
        residency_wait(monotonic_ns() + SHORTEST_NS);
    }
    return NULL;
}

void content_sample_wake(unsigned device)
{
    if (__atomic_load_n(&started, __ATOMIC_RELAXED) || !residency_planned(device) ||
        residency_of(device)->needed < LEAST_BYTES)
        return;
    if (__atomic_exchange_n(&started, true, __ATOMIC_RELAXED))
        return;
    bool runs = own_thread_start("tessera-sample", run, NULL);
    if (!runs)
        report_error(0, "no thread that samples memory: retried");
    __atomic_store_n(&started, runs, __ATOMIC_RELAXED);
}

void content_sample_forked(void)
{
    started = false;
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        samplers[i] = (struct sampler){0};
}
