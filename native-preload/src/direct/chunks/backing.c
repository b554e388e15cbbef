#include "direct/chunks/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "direct/chunks/backing_step.h"
#include "direct/chunks/content.h"
#include "direct/chunks/numa.h"
#include "driver/own_descriptor.h"
#include "direct/memory/records.h"
#include "session/manager.h"
#include "session/report.h"
#include "session/settings.h"

#define SMALL_PARTS 16

static struct record_pool step_records = {.bytes = sizeof(struct backing_step)};
static struct record_pool piece_records = {.bytes = sizeof(struct backing_piece)};
static struct backing_step *steps[TESSERA_MAX_DEVICES];
static int file = -1;
static void (*drop_pinned)(struct backing_step *step);

void step_pinned_drop(void (*drop)(struct backing_step *step))
{
    drop_pinned = drop;
}

struct backing_step *step_first(unsigned device)
{
    return steps[device];
}

uint64_t step_bytes_due(unsigned device, enum host_tier tier, uint64_t wanted)
{
    uint64_t held = residency_of(device)->held[tier], target = residency_host_target(device, tier);
    uint64_t room = target > held ? target - held : 0;
    /* Only whole steps can be released, so a small target is divided into small steps. */
    uint64_t largest = tier == TIER_PINNED ? PINNED_STEP_BYTES : STEP_BYTES;
    uint64_t most = target / SMALL_PARTS < largest ? target / SMALL_PARTS : largest;
    uint64_t bytes = wanted < most ? wanted : most;
    /* Rounded down, because a step that is partly in use cannot be released, and small steps waste less memory. */
    bytes = bytes > BACKING_UNIT ? bytes / BACKING_UNIT * BACKING_UNIT : BACKING_UNIT;
    return bytes < room ? bytes : room / BACKING_UNIT * BACKING_UNIT;
}

char *step_map(unsigned device, uint64_t bytes)
{
    char *memory = mmap(NULL, bytes + BACKING_UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                        -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    uint64_t before = -(uint64_t)(uintptr_t)memory % BACKING_UNIT;
    if (before)
        munmap(memory, before);
    if (BACKING_UNIT - before)
        munmap(memory + before + bytes, BACKING_UNIT - before);
    memory += before;
    numa_prefer(device, memory, bytes);
    madvise(memory, bytes, MADV_HUGEPAGE);
    madvise(memory, bytes, MADV_DONTFORK); /* otherwise the parent copies each page that it writes after a fork */
    madvise(memory, bytes, MADV_DONTDUMP);
    return memory;
}

void step_unmap(char *memory, uint64_t bytes)
{
    munmap(memory, bytes);
}

struct backing_step *step_add(unsigned device, enum host_tier tier, uint64_t bytes, char *memory)
{
    struct backing_step *step = record_take(&step_records);
    if (step) {
        step->next = steps[device];
        step->memory = memory;
        step->bytes = bytes;
        step->device = (uint8_t)device;
        step->tier = (uint8_t)tier;
        steps[device] = step;
    }
    return step;
}

void step_remove(struct backing_step *step)
{
    struct backing_step **at = &steps[step->device];
    while (*at != step)
        at = &(*at)->next;
    *at = step->next;
    record_give(&step_records, step);
}

bool step_surplus(const struct backing_step *step)
{
    const struct residency *r = residency_of(step->device);
    enum host_tier tier = step->tier;
    if (step->used || step->busy)
        return false;
    if (tier != TIER_PINNED) /* cheap to allocate again */
        return true;
    return r->held[tier] > residency_host_target(step->device, tier) ||
           r->held[tier] >= residency_backing_needed(step->device) + step->bytes;
}

/* Opens the swap file at its first use. False: there is no directory, or the file cannot be created. */
static bool open_file(void)
{
    static bool said;
    if (file < 0)
        file = own_descriptor(open(settings()->swap_directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file < 0 && !said) {
        said = true;
        report_error(-errno, "no file for swapped memory in %s: %s", settings()->swap_directory, strerror(errno));
    }
    return file >= 0;
}

/* The lowest offset with a gap of this many bytes. Released ranges are used again, so the file stays small. */
static uint64_t file_place(uint64_t bytes)
{
    uint64_t at = 0;
    bool moved = true;
    while (moved) {
        moved = false;
        for (int i = 0; i < TESSERA_MAX_DEVICES; i++)
            for (const struct backing_step *s = steps[i]; s; s = s->next)
                if (s->tier == TIER_FILE && s->file_offset < at + bytes && at < s->file_offset + s->bytes) {
                    at = s->file_offset + s->bytes;
                    moved = true;
                }
    }
    return at;
}

/* Without the lock: allocates the step's memory, or its range of the file. */
static bool provide(struct backing_step *step)
{
    if (step->tier != TIER_FILE) {
        step->memory = step_map(step->device, step->bytes);
        return step->memory != NULL;
    }
    /* If the file system cannot reserve space, a full disk is found at the first write only. */
    if (fallocate(file, 0, (off_t)step->file_offset, (off_t)step->bytes) == 0 || errno == EOPNOTSUPP)
        return true;
    report_error(-errno, "no room for swapped memory in %s: %s", settings()->swap_directory, strerror(errno));
    return false;
}

/*
 * With the lock, which is released meanwhile: adds a step of pageable memory or of the file; NULL: no budget, or it
 * failed.
 */
static struct backing_step *new_step(unsigned device, enum host_tier tier, uint64_t wanted)
{
    uint64_t bytes = step_bytes_due(device, tier, wanted);
    if (!bytes || (tier == TIER_FILE && !open_file()) || !residency_raise_host(device, tier, bytes))
        return NULL;
    uint64_t at = tier == TIER_FILE ? file_place(bytes) : 0;
    struct backing_step *step = step_add(device, tier, bytes, NULL);
    bool made = step != NULL;
    if (made) {
        step->file_offset = at;
        step->busy = true;
        residency_unlock();
        made = provide(step);
        residency_lock();
        step->busy = false;
    }
    if (made)
        return step;
    if (step)
        step_remove(step);
    residency_lower_host(device, tier, bytes);
    return NULL;
}

static void drop_step(struct backing_step *step)
{
    if (step->tier == TIER_PINNED) {
        drop_pinned(step);
        return;
    }
    if (step->memory)
        step_unmap(step->memory, step->bytes);
    else
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)step->file_offset, (off_t)step->bytes);
    residency_lower_host(step->device, step->tier, step->bytes);
    step_remove(step);
}

void backing_trim(unsigned device)
{
    bool any = false;
    struct backing_step *step = steps[device];
    while (step) {
        bool surplus = step_surplus(step);
        struct backing_step *next = surplus ? NULL : step->next;
        if (surplus) { /* the lock may have been released: start again from the first step */
            drop_step(step);
            next = steps[device];
            any = true;
        }
        step = next;
    }
    if (!any)
        return;
    residency_unlock();
    manager_ring(device); /* other clients may wait for this host memory */
    residency_lock();
}

/* The length of the longest run of free units, at most `most`; `first` is where it begins. */
static uint64_t free_run(const struct backing_step *step, uint32_t *first, uint64_t most)
{
    uint32_t units = (uint32_t)(step->bytes / BACKING_UNIT);
    uint64_t best = 0, count = 0;
    for (uint32_t i = 0; i < units && best < most; i++) {
        bool taken = step->taken[i / 64] >> (i % 64) & 1;
        count = taken ? 0 : count + 1;
        if (count > best) {
            best = count;
            *first = i + 1 - (uint32_t)count;
        }
    }
    return best;
}

static void mark(struct backing_step *step, uint64_t first, uint64_t count, bool taken)
{
    for (uint64_t i = first; i < first + count; i++)
        step->taken[i / 64] ^= 1ULL << (i % 64);
    step->used += (uint32_t)(taken ? count : -count);
}

/*
 * Takes a piece of at most `units`. The longest run is preferred, because copies are then long; among equal runs, the
 * one in the fullest step, so that other steps become empty and can be released.
 */
static struct backing_piece *cut(unsigned device, enum host_tier tier, uint64_t units)
{
    struct backing_step *best = NULL;
    uint32_t at = 0;
    uint64_t count = 0;
    for (struct backing_step *s = steps[device]; s; s = s->next) {
        uint32_t first = 0;
        bool usable = s->tier == tier && !s->busy && s->used < s->bytes / BACKING_UNIT;
        uint64_t run = usable ? free_run(s, &first, units) : 0;
        if (run > count || (run && run == count && s->used > best->used)) {
            best = s;
            at = first;
            count = run;
        }
    }
    struct backing_piece *piece = best ? record_take(&piece_records) : NULL;
    if (!piece)
        return NULL;
    mark(best, at, count, true);
    *piece = (struct backing_piece){.step = best, .offset = (uint64_t)at * BACKING_UNIT, .bytes = count * BACKING_UNIT};
    return piece;
}

struct backing_piece *backing_take(unsigned device, uint64_t at, uint64_t bytes, enum host_tier slowest)
{
    struct backing_piece *first = NULL, **last = &first;
    enum host_tier tier = TIER_PINNED;
    while (bytes && tier <= slowest) {
        struct backing_piece *piece = cut(device, tier, bytes / BACKING_UNIT);
        if (!piece && tier != TIER_PINNED && new_step(device, tier, bytes))
            continue;
        if (!piece) {
            tier++;
            continue;
        }
        *last = piece;
        last = &piece->next;
        piece->at = at;
        at += piece->bytes;
        bytes -= piece->bytes;
    }
    if (bytes == 0)
        return first;
    backing_give(device, first);
    return NULL;
}

void backing_give(unsigned device, struct backing_piece *pieces)
{
    (void)device;
    while (pieces) {
        struct backing_piece *next = pieces->next;
        struct backing_step *step = pieces->step;
        mark(step, pieces->offset / BACKING_UNIT, pieces->bytes / BACKING_UNIT, false);
        record_give(&piece_records, pieces);
        pieces = next;
    }
}

const struct backing_step *backing_to_empty(unsigned device)
{
    const struct backing_step *least = NULL;
    if (residency_of(device)->held[TIER_PINNED] <= residency_host_target(device, TIER_PINNED))
        return NULL;
    for (const struct backing_step *s = steps[device]; s; s = s->next)
        if (s->tier == TIER_PINNED && s->used && (!least || s->used < least->used))
            least = s;
    return least;
}

unit_mask backing_units(const struct backing_piece *pieces)
{
    unit_mask units = 0;
    for (; pieces; pieces = pieces->next)
        units |= content_parts(pieces->bytes) << pieces->at / BACKING_UNIT;
    return units;
}

bool backing_pinned(const struct backing_piece *pieces)
{
    while (pieces && pieces->step->tier == TIER_PINNED)
        pieces = pieces->next;
    return !pieces;
}

bool backing_in(const struct backing_piece *pieces, const struct backing_step *step)
{
    while (pieces && pieces->step != step)
        pieces = pieces->next;
    return pieces != NULL;
}

enum host_tier backing_tier(const struct backing_piece *piece)
{
    return piece->step->tier;
}

char *backing_memory(const struct backing_piece *piece)
{
    return piece->step->memory ? piece->step->memory + piece->offset : NULL;
}

bool backing_read(const struct backing_piece *piece, uint64_t offset, void *to, uint64_t bytes)
{
    uint64_t at = piece->step->file_offset + piece->offset + offset;
    char *into = to;
    while (bytes) {
        ssize_t done = pread(file, into, bytes, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            report_error(done ? -errno : -EIO, "swapped memory could not be read back: %s",
                         strerror(done ? errno : EIO));
            return false;
        }
        into += done;
        at += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return true;
}

bool backing_write(const struct backing_piece *piece, uint64_t offset, const void *from, uint64_t bytes)
{
    uint64_t at = piece->step->file_offset + piece->offset + offset;
    const char *data = from;
    while (bytes) {
        ssize_t done = pwrite(file, data, bytes, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            report_error(done ? -errno : -EIO, "memory could not be swapped to a file: %s",
                         strerror(done ? errno : EIO));
            return false;
        }
        data += done;
        at += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return true;
}

void backing_context_closing(const void *context)
{
    residency_lock();
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        for (struct backing_step *s = steps[i]; s; s = s->next)
            if (s->context == context)
                s->context = NULL;
    residency_unlock();
}

void backing_forked(void)
{
    memset(steps, 0, sizeof steps);
    if (file >= 0)
        close(file); /* closes the child's descriptor only */
    file = -1;
}
