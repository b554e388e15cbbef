#include "direct/chunks/content.h"

#include <stddef.h>

#include "direct/memory/records.h"

static struct record_pool records = {.bytes = sizeof(struct content)};

struct content *content_new(void)
{
    return record_take(&records);
}

void content_free(struct content *content)
{
    if (content)
        record_give(&records, content);
}

/* The lowest bits. */
static unit_mask lowest(unsigned count)
{
    return count < PARTS ? ((unit_mask)1 << count) - 1 : ~(unit_mask)0;
}

/* The number of zeros below the lowest bit; PARTS: no bit is set. */
static unsigned zeros(unit_mask parts)
{
    uint64_t low = (uint64_t)parts, high = (uint64_t)(parts >> 64);
    if (low)
        return (unsigned)__builtin_ctzll(low);
    return high ? 64 + (unsigned)__builtin_ctzll(high) : PARTS;
}

unit_mask content_parts(uint64_t bytes)
{
    return lowest((unsigned)(bytes / PART_BYTES));
}

bool content_run(unit_mask parts, unsigned *first, unsigned *count)
{
    if (*first >= PARTS || !(parts >> *first))
        return false;
    *first += zeros(parts >> *first);
    *count = zeros(~(parts >> *first));
    return true;
}

uint64_t content_bytes(unit_mask parts)
{
    int count = __builtin_popcountll((uint64_t)parts) + __builtin_popcountll((uint64_t)(parts >> 64));
    return (uint64_t)count * PART_BYTES;
}
