#include "direct/chunks/chunks.h"

#include <string.h>

#include "driver/clock.h"
#include "direct/chunks/exchange.h"
#include "direct/chunks/move_trace.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "direct/chunks/shortage.h"
#include "tessera_entries.h"

#define SETTLE_SLICE_NS 100000000ULL

static struct record_pool chunk_records = {.bytes = sizeof(struct chunk)};
static struct record_pool view_records = {.bytes = sizeof(struct chunk_view)};
static struct chunk *first[TESSERA_MAX_DEVICES], *last[TESSERA_MAX_DEVICES];
static struct chunk *cursors[TESSERA_MAX_DEVICES][SEARCHES]; /* where the next search begins; NULL: at the first */
static uint32_t peers[TESSERA_MAX_DEVICES];                  /* without the device itself */
static bool make_shareable[TESSERA_MAX_DEVICES];
static signed char shareable_support[TESSERA_MAX_DEVICES]; /* 0 unknown, 1 yes, -1 no */

/* Whether the chunk can be examined, and is known to have no contents until the gate opens. */
static bool is_blank(const struct chunk *chunk)
{
    bool never_filled = chunk->state == CHUNK_ABSENT && !chunk->away;
    return !chunk->content && !chunk->unseen && !chunk_never_seen(chunk) &&
           (never_filled || chunk->empty_since == residency_of(chunk->device)->openings);
}

static void account(const struct chunk *chunk, int64_t sign)
{
    struct residency *r = residency_of(chunk->device);
    uint64_t bytes = (uint64_t)(sign * (int64_t)chunk->bytes);
    if (chunk->fixed || chunk->stuck) {
        r->fixed += bytes;
        return;
    }
    if (chunk->live)
        r->needed += bytes;
    if (chunk->live && chunk->content)
        r->looked += bytes;
    else if (chunk->live && (chunk->unseen || chunk_never_seen(chunk)))
        r->unseen += bytes;
    else if (chunk->live && is_blank(chunk))
        r->blank += bytes;
    if (chunk->live)
        r->zero += (uint64_t)(sign * (int64_t)(chunk->bytes - chunk_content_bytes(chunk)));
    if (chunk->live && chunk->state == CHUNK_RESIDENT)
        r->present += bytes;
    if (!chunk->live && chunk->state == CHUNK_RESIDENT)
        r->cached += bytes;
    if (chunk->away)
        r->swapped += (uint64_t)(sign * (int64_t)chunk_content_bytes(chunk));
    else if (chunk->live && chunk->content)
        r->clean += (uint64_t)(sign * (int64_t)content_bytes(chunk->content->copied));
}

struct chunk *chunk_new(unsigned device, uint64_t bytes)
{
    struct chunk *chunk = record_take(&chunk_records);
    if (!chunk)
        return NULL;
    chunk->device = (uint8_t)device;
    chunk->bytes = bytes;
    chunk->state = CHUNK_BUSY;
    chunk->descriptor = -1;
    chunk->previous = last[device];
    if (last[device])
        last[device]->next = chunk;
    else
        first[device] = chunk;
    last[device] = chunk;
    residency_of(device)->used = true;
    return chunk;
}

void chunk_forget(struct chunk *chunk)
{
    unsigned device = chunk->device;
    account(chunk, -1);
    while (chunk->views) {
        struct chunk_view *view = chunk->views;
        chunk->views = view->next;
        record_give(&view_records, view);
    }
    backing_give(device, chunk->backing);
    content_free(chunk->content);
    for (int i = 0; i < SEARCHES; i++)
        if (cursors[device][i] == chunk)
            cursors[device][i] = chunk->next;
    if (chunk->previous)
        chunk->previous->next = chunk->next;
    else
        first[device] = chunk->next;
    if (chunk->next)
        chunk->next->previous = chunk->previous;
    else
        last[device] = chunk->previous;
    record_give(&chunk_records, chunk);
}

bool chunk_add_view(struct chunk *chunk, CUdeviceptr address, uint32_t readable, uint32_t writable)
{
    struct chunk_view *view = record_take(&view_records);
    if (!view)
        return false;
    *view = (struct chunk_view){chunk->views, address, readable, writable};
    chunk->views = view;
    return true;
}

bool chunk_remove_view(struct chunk *chunk, CUdeviceptr address)
{
    struct chunk_view **at = &chunk->views;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    struct chunk_view *view = *at;
    if (!view)
        return false;
    *at = view->next;
    record_give(&view_records, view);
    return true;
}

struct chunk_view *chunk_view_at(const struct chunk *chunk, CUdeviceptr address)
{
    struct chunk_view *view = chunk->views;
    while (view && view->address != address)
        view = view->next;
    return view;
}

/* Called for chunks with memory only. With the gate open, memory counts as having contents: kernels may write it. */
bool chunk_contents(const struct chunk *chunk)
{
    return !chunk->untouched && chunk->empty_since != residency_of(chunk->device)->openings;
}

void chunk_set_empty(struct chunk *chunk)
{
    const struct residency *r = residency_of(chunk->device);
    chunk->empty_since = r->closed ? r->openings : UINT64_MAX;
}

uint64_t chunk_content_bytes(const struct chunk *chunk)
{
    return chunk->content ? content_bytes(chunk->content->filled) : chunk->bytes;
}

void chunk_drop_copy(struct chunk *chunk)
{
    struct backing_piece *backing = chunk->backing;
    chunk_change_begin(chunk);
    chunk->backing = NULL;
    chunk->away = false;
    if (chunk->content)
        chunk->content->copied = 0;
    chunk_change_end(chunk);
    backing_give(chunk->device, backing);
}

void chunk_forget_content(struct chunk *chunk)
{
    chunk_drop_copy(chunk);
    chunk_change_begin(chunk);
    content_free(chunk->content);
    chunk->content = NULL;
    chunk->unseen = false;
    chunk_change_end(chunk);
}

void chunk_set_unseen(struct chunk *chunk)
{
    chunk_forget_content(chunk);
    chunk_change_begin(chunk);
    chunk->unseen = true;
    chunk_change_end(chunk);
}

bool chunk_never_seen(const struct chunk *chunk)
{
    return chunk->arena || chunk->bytes > CHUNK_BYTES;
}

void chunk_change_begin(const struct chunk *chunk)
{
    account(chunk, -1);
}

void chunk_change_end(const struct chunk *chunk)
{
    account(chunk, 1);
    residency_changed();
}

void chunk_settle(const struct chunk *chunk)
{
    while (chunk->state == CHUNK_BUSY)
        residency_wait(monotonic_ns() + SETTLE_SLICE_NS);
}

CUresult chunk_apply_access(const struct chunk *chunk, const struct chunk_view *view)
{
    struct driver_access access[TESSERA_MAX_DEVICES];
    size_t count = 0;
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++) {
        bool reads = view->readable >> i & 1, writes = view->writable >> i & 1;
        if (reads || writes)
            access[count++] = (struct driver_access){{CU_MEM_LOCATION_TYPE_DEVICE, i},
                                                     writes ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                            : CU_MEM_ACCESS_FLAGS_PROT_READ};
    }
    return count ? REAL(cuMemSetAccess)(view->address, chunk->bytes, (void *)access, count) : CUDA_SUCCESS;
}

CUresult chunk_deny_access(const struct chunk *chunk, const struct chunk_view *view, uint32_t devices)
{
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < TESSERA_MAX_DEVICES && result == CUDA_SUCCESS; i++)
        if (devices >> i & 1) {
            struct driver_access none = {{CU_MEM_LOCATION_TYPE_DEVICE, i}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
            result = REAL(cuMemSetAccess)(view->address, chunk->bytes, (void *)&none, 1);
        }
    return result;
}

CUresult chunk_map_view(const struct chunk *chunk, const struct chunk_view *view)
{
    CUresult result = REAL(cuMemMap)(view->address, chunk->bytes, 0, chunk->handle, 0);
    if (result != CUDA_SUCCESS)
        return result;
    move_trace(chunk->device, "mapped", chunk, chunk->bytes);
    result = chunk_apply_access(chunk, view);
    if (result != CUDA_SUCCESS)
        REAL(cuMemUnmap)(view->address, chunk->bytes);
    return result;
}

struct driver_allocation_properties chunk_properties(unsigned device, bool shareable)
{
    return (struct driver_allocation_properties){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requested_handle_types = shareable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)device}};
}

bool chunk_shareable_supported(unsigned device)
{
    int descriptors = 0;
    return device < TESSERA_MAX_DEVICES &&
           REAL(cuDeviceGetAttribute)((void *)&descriptors,
                                      CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                                      (CUdevice)device) == CUDA_SUCCESS &&
           descriptors;
}

/* From the first export on all memory is created exportable: a program that exports once does so again. */
bool chunk_shareable(unsigned device)
{
    struct driver_allocation_properties properties = chunk_properties(device, true);
    unsigned long long handle;
    signed char known = __atomic_load_n(&shareable_support[device], __ATOMIC_RELAXED);
    if (known == 0 && chunk_shareable_supported(device)) {
        CUresult result = REAL(cuMemCreate)(&handle, CHUNK_UNIT, (void *)&properties, 0);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) /* says nothing about support: other clients hold all memory now */
            return true;
        known = result == CUDA_SUCCESS ? 1 : -1;
        if (result == CUDA_SUCCESS)
            REAL(cuMemRelease)(handle);
    } else if (known == 0) {
        known = -1;
    }
    __atomic_store_n(&shareable_support[device], known, __ATOMIC_RELAXED);
    if (known > 0)
        __atomic_store_n(&make_shareable[device], true, __ATOMIC_RELAXED);
    return known > 0;
}

/* Whether memory from the driver is to be created exportable. */
static bool is_to_be_shareable(const struct chunk *chunk)
{
    return !chunk->properties && (__atomic_load_n(&make_shareable[chunk->device], __ATOMIC_RELAXED) ||
                                  (exchange_open(chunk->device) && chunk_shareable(chunk->device)));
}

/* Creates memory. While the driver has none, releases handed memory that waits in the queue, and tries again. */
static CUresult ask_driver(struct chunk *chunk, const void *properties)
{
    CUresult result;
    do
        result = REAL(cuMemCreate)(&chunk->handle, chunk->bytes, properties, 0);
    while (result == CUDA_ERROR_OUT_OF_MEMORY && exchange_drop(chunk->device));
    return result;
}

static CUresult create(struct chunk *chunk)
{
    bool shareable = is_to_be_shareable(chunk);
    struct driver_allocation_properties ordinary = chunk_properties(chunk->device, shareable);
    const void *properties = chunk->properties ? chunk->properties : &ordinary;
    uint64_t free_bytes;
    CUresult result = ask_driver(chunk, properties);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && shortage_lasts(chunk->device, &free_bytes)) {
        result = ask_driver(chunk, properties);
        if (result == CUDA_ERROR_OUT_OF_MEMORY)
            shortage_found(chunk->device, free_bytes);
    }
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY && shareable) {
        shareable = false; /* memory that cannot be exported is better than none */
        ordinary = chunk_properties(chunk->device, false);
        result = REAL(cuMemCreate)(&chunk->handle, chunk->bytes, properties, 0);
    }
    if (result != CUDA_SUCCESS) {
        chunk->handle = 0;
        return result;
    }
    shortage_over(chunk->device);
    chunk->shareable = shareable;
    move_trace(chunk->device, "created", chunk, chunk->bytes);
    return result;
}

static CUresult map_all(struct chunk *chunk)
{
    CUresult result = CUDA_SUCCESS;
    const struct chunk_view *view = chunk->views;
    while (view && (result = chunk_map_view(chunk, view)) == CUDA_SUCCESS)
        view = view->next;
    move_trace(chunk->device, "filled", chunk, chunk->bytes);
    if (!view)
        return CUDA_SUCCESS;
    for (const struct chunk_view *mapped = chunk->views; mapped != view; mapped = mapped->next)
        REAL(cuMemUnmap)(mapped->address, chunk->bytes);
    REAL(cuMemRelease)(chunk->handle);
    exchange_forget(chunk);
    chunk->handle = 0;
    return result;
}

CUresult chunk_fill(struct chunk *chunk)
{
    move_trace(chunk->device, "fill", chunk, chunk->bytes);
    /* Handed memory is not trusted: if it cannot be mapped, the driver creates memory instead. */
    if (exchange_take(chunk) && map_all(chunk) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    CUresult result = create(chunk);
    return result == CUDA_SUCCESS ? map_all(chunk) : result;
}

/* A reset of the context may have ended mappings and handles already: then the driver answers INVALID_VALUE. */
static bool is_gone(CUresult result)
{
    return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE;
}

CUresult chunk_empty(struct chunk *chunk)
{
    CUresult result = CUDA_SUCCESS;
    const struct chunk_view *view = chunk->views;
    move_trace(chunk->device, "empty", chunk, chunk->bytes);
    while (view && is_gone(result = REAL(cuMemUnmap)(view->address, chunk->bytes)))
        view = view->next;
    move_trace(chunk->device, "unmapped", chunk, chunk->bytes);
    if (!view) {
        int descriptor = exchange_descriptor(chunk);
        result = REAL(cuMemRelease)(chunk->handle);
        exchange_give(chunk, descriptor, is_gone(result));
    }
    move_trace(chunk->device, "emptied", chunk, chunk->bytes);
    if (!view && is_gone(result)) {
        chunk->handle = 0;
        return CUDA_SUCCESS;
    }
    report_failure(result, "physical memory could not be taken away: it stays");
    for (const struct chunk_view *unmapped = chunk->views; unmapped != view; unmapped = unmapped->next)
        chunk_map_view(chunk, unmapped);
    return result;
}

CUdeviceptr chunk_address(const struct chunk *chunk)
{
    for (const struct chunk_view *view = chunk->views; view; view = view->next)
        if (view->readable & view->writable & 1u << chunk->device)
            return view->address;
    return 0;
}

struct chunk *chunk_first(unsigned device)
{
    return first[device];
}

struct chunk *chunk_search(unsigned device, enum chunk_search kind, bool (*fits)(const struct chunk *, uint64_t),
                           uint64_t now_ns)
{
    struct chunk *begin = cursors[device][kind] ? cursors[device][kind] : first[device];
    struct chunk *chunk = begin;
    while (chunk && !fits(chunk, now_ns))
        chunk = chunk->next;
    if (!chunk) { /* wrap around, up to where the search began */
        chunk = first[device];
        while (chunk && chunk != begin && !fits(chunk, now_ns))
            chunk = chunk->next;
        if (chunk == begin)
            chunk = NULL;
    }
    if (chunk)
        cursors[device][kind] = chunk->next;
    return chunk;
}

uint32_t chunk_peers(unsigned device)
{
    return peers[device] | 1u << device;
}

void chunk_set_peers(unsigned device, uint32_t devices)
{
    peers[device] = devices;
}

void chunks_forked(void)
{
    memset(first, 0, sizeof first);
    memset(last, 0, sizeof last);
    memset(cursors, 0, sizeof cursors);
    memset(peers, 0, sizeof peers);
    memset(make_shareable, 0, sizeof make_shareable);
}
