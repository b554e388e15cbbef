/* The reserved range of device addresses, the file behind it, and which parts are taken. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/memory.h"
#include "script/script.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const size_t arena_bytes = 64ULL << 30;
static const size_t page_bytes = 4096;

struct range {
    CUdeviceptr base;
    size_t extent;
};

/* Where programs place windows that are larger than the arena; the system maps nothing there by itself. */
static const CUdeviceptr far_begin = 0x200000000000ULL, far_end = 0x400000000000ULL;

static CUdeviceptr arena;
static int arena_fd = -1;
static struct range *ranges; /* by address */
static size_t range_count, range_capacity;

size_t page_round(size_t bytes)
{
    return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

static bool arena_open(void)
{
    if (arena)
        return true;
    int fixed = script.arena ? MAP_FIXED_NOREPLACE : 0;
    void *map = mmap((void *)(uintptr_t)script.arena, arena_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    arena_fd = memfd_create("scripted-device-memory", MFD_CLOEXEC);
    if (map == MAP_FAILED || arena_fd < 0 || ftruncate(arena_fd, (off_t)arena_bytes) != 0) {
        perror("scripted driver: cannot reserve device addresses");
        return false;
    }
    arena = (CUdeviceptr)(uintptr_t)map;
    return true;
}

static bool in_arena(CUdeviceptr address)
{
    return arena && address >= arena && address < arena + arena_bytes;
}

static bool is_far(CUdeviceptr address)
{
    return address >= far_begin && address < far_end;
}

/* A far range has memory of the device only where some is mapped: programs register host memory in the rest of it. */
bool memory_in_range(CUdeviceptr address)
{
    if (in_arena(address))
        return true;
    const struct allocation *a = is_far(address) ? allocation_of(address) : NULL;
    return a && a->kind == ALLOCATION_MAPPED;
}

int memory_file(void)
{
    return arena_fd;
}

uint64_t memory_offset(CUdeviceptr address)
{
    return address - arena;
}

static void insert(size_t at, struct range r)
{
    if (range_count == range_capacity) {
        range_capacity = range_capacity ? range_capacity * 2 : 256;
        ranges = realloc(ranges, range_capacity * sizeof *ranges);
        if (!ranges)
            abort();
    }
    memmove(ranges + at + 1, ranges + at, (range_count - at) * sizeof *ranges);
    ranges[at] = r;
    range_count++;
}

/* First fit in [low, end of the arena). */
static CUdeviceptr first_fit(size_t extent, size_t alignment, CUdeviceptr low)
{
    CUdeviceptr at = (low + alignment - 1) / alignment * alignment;
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].base + ranges[i].extent <= at)
            continue;
        if (at + extent <= ranges[i].base)
            break;
        at = (ranges[i].base + ranges[i].extent + alignment - 1) / alignment * alignment;
    }
    return at + extent <= arena + arena_bytes ? at : 0;
}

/* The wish, if it is far and nothing is there. */
static CUdeviceptr take_far(size_t extent, size_t alignment, CUdeviceptr wish)
{
    if (!is_far(wish) || extent > far_end - wish || wish % alignment)
        return 0;
    void *map = mmap((void *)(uintptr_t)wish, extent, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (map == MAP_FAILED)
        return 0;
    if (map != (void *)(uintptr_t)wish) { /* a kernel before 4.17 takes the address for a hint */
        munmap(map, extent);
        return 0;
    }
    return wish;
}

CUdeviceptr range_take(size_t extent, size_t alignment, CUdeviceptr wish)
{
    if (!arena_open() || extent == 0)
        return 0;
    if (alignment < page_bytes)
        alignment = page_bytes;
    CUdeviceptr at = take_far(extent, alignment, wish);
    if (at == 0 && extent > arena_bytes)
        return 0;
    if (at == 0 && in_arena(wish))
        at = first_fit(extent, alignment, wish);
    if (at == 0)
        at = first_fit(extent, alignment, arena + page_bytes); /* the first page stays free: no pointer there */
    if (at == 0)
        return 0;
    size_t i = 0;
    while (i < range_count && ranges[i].base < at)
        i++;
    insert(i, (struct range){at, extent});
    return at;
}

static size_t range_index(CUdeviceptr base)
{
    size_t low = 0, high = range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].base < base)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool range_reserved(CUdeviceptr base, size_t extent)
{
    size_t i = range_index(base + 1);
    return i > 0 && ranges[i - 1].base + ranges[i - 1].extent >= base + extent;
}

void range_give(CUdeviceptr base)
{
    size_t i = range_index(base);
    if (i == range_count || ranges[i].base != base)
        return;
    if (is_far(base)) {
        munmap((void *)(uintptr_t)base, ranges[i].extent);
        range_count--;
        memmove(ranges + i, ranges + i + 1, (range_count - i) * sizeof *ranges);
        return;
    }
    /* The addresses stay reserved and unreadable; the memory behind them goes back to the system. */
    void *map = mmap((void *)(uintptr_t)base, ranges[i].extent, PROT_NONE,
                     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        abort();
    if (fallocate(arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)memory_offset(base),
                  (off_t)ranges[i].extent) != 0)
        perror("scripted driver: cannot give memory back");
    range_count--;
    memmove(ranges + i, ranges + i + 1, (range_count - i) * sizeof *ranges);
}
