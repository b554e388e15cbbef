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

uint32_t content_parts(uint64_t bytes)
{
    return (uint32_t)((1ULL << bytes / PART_BYTES) - 1);
}

bool content_run(uint32_t parts, unsigned *first, unsigned *count)
{
    uint64_t rest = (uint64_t)parts >> *first;
    if (*first >= PARTS || !rest)
        return false;
    unsigned skipped = (unsigned)__builtin_ctzll(rest);
    *first += skipped;
    *count = (unsigned)__builtin_ctzll(~(rest >> skipped));
    return true;
}

uint64_t content_bytes(uint32_t parts)
{
    return (uint64_t)__builtin_popcount(parts) * PART_BYTES;
}
