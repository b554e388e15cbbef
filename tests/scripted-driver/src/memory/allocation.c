/* The table of allocations, sorted by address, and what backs and counts them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "contexts/checkpoint.h"
#include "memory/memory.h"
#include "script/witness.h"

static struct allocation **table;
static size_t count, capacity;

/* Position of the first allocation that begins after the address. */
static size_t after(CUdeviceptr address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Memory that is being freed included. */
static struct allocation *holder_of(CUdeviceptr address)
{
    size_t i = after(address);
    if (i == 0)
        return NULL;
    struct allocation *a = table[i - 1];
    size_t bytes = a->bytes ? a->bytes : 1;
    return address < a->base + bytes ? a : NULL;
}

struct allocation *allocation_of(CUdeviceptr address)
{
    struct allocation *a = holder_of(address);
    return a && !a->freeing ? a : NULL;
}

struct allocation *allocation_at(CUdeviceptr base)
{
    struct allocation *a = allocation_of(base);
    return a && a->base == base ? a : NULL;
}

struct allocation *allocation_freeing(CUdeviceptr base)
{
    size_t i = after(base);
    return i > 0 && table[i - 1]->base == base && table[i - 1]->freeing ? table[i - 1] : NULL;
}

struct allocation *allocation_each(size_t *position)
{
    return *position < count ? table[(*position)++] : NULL;
}

struct allocation *allocation_add(CUdeviceptr base, size_t bytes, enum allocation_kind kind, struct context *context)
{
    struct allocation *a = calloc(1, sizeof *a);
    if (count == capacity) {
        capacity = capacity ? capacity * 2 : 256;
        table = realloc(table, capacity * sizeof *table);
    }
    if (!a || !table)
        abort();
    a->base = base;
    a->bytes = bytes;
    a->extent = page_round(bytes);
    a->kind = kind;
    a->context = context;
    a->device = context ? context->device : -1;
    a->id = ++driver_ids;
    size_t i = after(base);
    memmove(table + i + 1, table + i, (count - i) * sizeof(struct allocation *));
    table[i] = a;
    count++;
    return a;
}

void allocation_remove(struct allocation *a)
{
    size_t i = after(a->base);
    while (i > 0 && table[i - 1] != a)
        i--;
    if (i > 0) {
        memmove(table + i - 1, table + i, (count - i) * sizeof(struct allocation *));
        count--;
    }
    free(a);
}

static bool counts(enum allocation_kind kind, bool managed)
{
    return !managed && kind != ALLOCATION_GLOBAL;
}

CUresult memory_allocate(size_t bytes, enum allocation_kind kind, bool managed, struct context *context,
                         struct allocation **made)
{
    if (bytes == 0)
        return ERROR_INVALID_VALUE;
    size_t extent = page_round(bytes);
    int device = context->device;
    if (extent < bytes || (counts(kind, managed) && !witness_take(device, extent, devices[device].total_bytes)))
        return ERROR_OUT_OF_MEMORY;
    CUdeviceptr base = range_take(extent, bytes >= 2 << 20 ? 2 << 20 : 4096, 0);
    void *map = MAP_FAILED;
    if (base)
        map = mmap((void *)(uintptr_t)base, extent, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, memory_file(),
                   (off_t)memory_offset(base));
    if (map == MAP_FAILED) {
        if (base)
            range_give(base);
        if (counts(kind, managed))
            witness_give(device, extent);
        return ERROR_OUT_OF_MEMORY;
    }
    *made = allocation_add(base, bytes, kind, context);
    (*made)->managed = managed;
    if (managed)
        checkpoint_holds(CHECKPOINT_MANAGED, 1);
    return OK;
}

void memory_free(struct allocation *a)
{
    if (counts(a->kind, a->managed))
        witness_give(a->device, a->extent);
    if (a->managed)
        checkpoint_holds(CHECKPOINT_MANAGED, -1);
    range_give(a->base);
    allocation_remove(a);
}

void memory_graph_free(CUdeviceptr pointer)
{
    struct allocation *a = allocation_at(pointer);
    if (a && a->kind == ALLOCATION_GRAPH) {
        devices[a->device].graph_bytes -= a->extent;
        memory_free(a);
    }
}

/*
 * Objects that a context owned end with it, registrations of host memory too: the stricter of what a driver may do.
 * Host and pool memory belong to the process, mappings to their handles.
 */
void memory_context_gone(struct context *context)
{
    for (size_t i = 0; i < count;) {
        struct allocation *a = table[i];
        bool owned = a->kind == ALLOCATION_PLAIN || a->kind == ALLOCATION_MANAGED || a->kind == ALLOCATION_ARRAY ||
                     a->kind == ALLOCATION_GLOBAL;
        if (owned && a->context == context)
            memory_free(a);
        else if (a->kind == ALLOCATION_REGISTERED && a->context == context)
            allocation_remove(a);
        else {
            if (a->context == context)
                a->context = NULL;
            i++;
        }
    }
}

/* By its own device or another one. */
static bool usable(struct allocation *mapping)
{
    bool allowed = mapping->access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE || (mapping->peers & ~(1u << mapping->device));
    return allowed && mapping_present(mapping);
}

static bool reachable(CUdeviceptr address, size_t bytes, bool *host, struct allocation *(*find)(CUdeviceptr))
{
    *host = !memory_in_range(address);
    if (*host)
        return address != 0;
    while (bytes > 0) {
        struct allocation *a = find(address);
        if (!a || (a->kind == ALLOCATION_MAPPED && !usable(a)))
            return false;
        size_t here = a->base + a->bytes - address;
        if (here >= bytes)
            return true;
        if (a->kind != ALLOCATION_MAPPED) /* only neighbouring mappings make one range */
            return false;
        address += here;
        bytes -= here;
    }
    return true;
}

bool memory_reachable(CUdeviceptr address, size_t bytes, bool *host)
{
    return reachable(address, bytes, host, allocation_of);
}

bool memory_there(CUdeviceptr address, size_t bytes, bool *host)
{
    return reachable(address, bytes, host, holder_of);
}
