#include "direct/chunks/ranges.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_CAPACITY 1024u

static struct range *table; /* sorted by address */
static size_t count, capacity;

/* Index of the first range that begins after the address. */
static size_t after(CUdeviceptr address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ranges_add(struct range range)
{
    if (count == capacity) {
        size_t wanted = capacity ? capacity * 2 : FIRST_CAPACITY;
        void *memory = mmap(NULL, wanted * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        if (table) {
            memcpy(memory, table, count * sizeof *table);
            munmap(table, capacity * sizeof *table);
        }
        table = memory;
        capacity = wanted;
    }
    size_t at = after(range.base);
    memmove(table + at + 1, table + at, (count - at) * sizeof *table);
    table[at] = range;
    count++;
    return true;
}

void ranges_remove(CUdeviceptr base)
{
    size_t at = after(base);
    if (at == 0 || table[at - 1].base != base)
        return;
    memmove(table + at - 1, table + at, (count - at) * sizeof *table);
    count--;
}

const struct range *ranges_find(CUdeviceptr address)
{
    size_t at = after(address);
    const struct range *range = at ? &table[at - 1] : NULL;
    return range && address - range->base < range->bytes ? range : NULL;
}

const struct range *ranges_next(CUdeviceptr address)
{
    size_t at = address ? after(address - 1) : 0;
    return at < count ? &table[at] : NULL;
}

void ranges_forked(void)
{
    count = 0;
}
