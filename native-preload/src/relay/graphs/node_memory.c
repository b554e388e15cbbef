#include "relay/graphs/node_memory.h"

#include <stdlib.h>

#include "session/hash_table.h"

static struct table memories = TABLE_INITIAL;

void *node_memory(uint64_t node, size_t bytes)
{
    void *fresh = calloc(1, bytes ? bytes : 1);
    void *old = table_take(&memories, node);
    free(old);
    if (fresh && !table_put(&memories, node, fresh)) {
        free(fresh);
        fresh = NULL;
    }
    return fresh;
}

void node_memory_forget(uint64_t node)
{
    free(table_take(&memories, node));
}
