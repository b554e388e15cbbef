#include "direct/pools/pool_blocks.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define SMALLEST 512u            /* the alignment that the driver's pools give */
#define LARGE (16ULL << 20)      /* from here on sizes are rounded to pages, which wastes less than an eighth */
#define LARGE_GRAIN (2ULL << 20) /* page of device memory */
#define BUCKETS 8192u            /* a power of two; programs hold some thousand blocks */
#define SLAB_BYTES (256u << 10)

unsigned pool_blocks_used;

static struct pool_block *buckets[BUCKETS];
static struct pool_block *spare; /* free records, linked by `next`; from mmap, because malloc may be the program's */

static unsigned log2_of(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

/* Rounds to eighths of a power of two, so that a free block serves slightly smaller requests and wastes little. */
static uint64_t grain_of(uint64_t bytes)
{
    uint64_t grain = bytes >= LARGE ? LARGE_GRAIN : 1ULL << (log2_of(bytes) - 3);
    return grain < SMALLEST ? SMALLEST : grain;
}

uint64_t pool_block_extent(uint64_t bytes)
{
    uint64_t extent;
    if (bytes <= SMALLEST)
        return SMALLEST;
    uint64_t grain = grain_of(bytes);
    return __builtin_add_overflow(bytes, grain - 1, &extent) ? 0 : extent & ~(grain - 1);
}

unsigned pool_block_class(uint64_t extent)
{
    unsigned octave = log2_of(extent);
    return octave * 8 + (unsigned)(extent >> (octave - 3) & 7);
}

struct pool_block *pool_block_new(void)
{
    if (!spare) {
        struct pool_block *slab = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (slab == MAP_FAILED)
            return NULL;
        for (size_t i = 0; i < SLAB_BYTES / sizeof *slab; i++)
            pool_block_delete(&slab[i]);
    }
    struct pool_block *block = spare;
    spare = block->next;
    memset(block, 0, sizeof *block);
    return block;
}

void pool_block_delete(struct pool_block *block)
{
    block->next = spare;
    spare = block;
}

static struct pool_block **bucket_of(CUdeviceptr pointer)
{
    return &buckets[(pointer / SMALLEST * 0x9e3779b97f4a7c15ULL) >> 32 & (BUCKETS - 1)];
}

void pool_block_put(struct pool_block *block)
{
    struct pool_block **bucket = bucket_of(block->pointer);
    block->next = *bucket;
    *bucket = block;
    __atomic_store_n(&pool_blocks_used, pool_blocks_used + 1, __ATOMIC_RELAXED);
}

struct pool_block *pool_block_find(CUdeviceptr pointer)
{
    struct pool_block *block = *bucket_of(pointer);
    while (block && block->pointer != pointer)
        block = block->next;
    return block;
}

void pool_block_take(struct pool_block *block)
{
    struct pool_block **link = bucket_of(block->pointer);
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    block->next = NULL;
    __atomic_store_n(&pool_blocks_used, pool_blocks_used - 1, __ATOMIC_RELAXED);
}

void pool_block_append(struct pool_block_list *list, struct pool_block *block)
{
    block->newer = NULL;
    block->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = block;
    list->newest = block;
}

void pool_block_unlink(struct pool_block_list *list, struct pool_block *block)
{
    *(block->older ? &block->older->newer : &list->oldest) = block->newer;
    *(block->newer ? &block->newer->older : &list->newest) = block->older;
    block->older = block->newer = NULL;
}

void pool_blocks_forked(void)
{
    memset(buckets, 0, sizeof buckets);
    spare = NULL;
    pool_blocks_used = 0;
}
