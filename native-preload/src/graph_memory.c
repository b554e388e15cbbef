#include "graph_memory.h"

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "quota.h"
#include "segment.h"
#include "tessera_entries.h"

#define POLL_NS 1000000000ULL

enum {
    GRAPH_MEM_ATTR_RESERVED_CURRENT = 2, /* CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT */
    NODE_TYPE_MEM_ALLOC = 10,            /* CU_GRAPH_NODE_TYPE_MEM_ALLOC */
};

static bool seen;
static uint64_t polled_ns[TESSERA_MAX_DEVICES];

void graph_memory_seen(void)
{
    __atomic_store_n(&seen, true, __ATOMIC_RELAXED);
}

void graph_memory_poll(unsigned device)
{
    uint64_t now_ns = monotonic_ns(), reserved = 0;
    if (!__atomic_load_n(&seen, __ATOMIC_RELAXED) || now_ns - polled_ns[device] < POLL_NS)
        return;
    polled_ns[device] = now_ns;
    if (REAL(cuDeviceGetGraphMemAttribute)((CUdevice)device, GRAPH_MEM_ATTR_RESERVED_CURRENT, &reserved) ==
        CUDA_SUCCESS)
        quota_graph_memory(device, reserved);
}

/* Refused at once where the node alone could never fit. */
static bool fits(uint64_t bytes, int device)
{
    if (device < 0 || device >= TESSERA_MAX_DEVICES)
        return true;
    uint64_t limit = quota_limit((unsigned)device);
    return limit == 0 || bytes <= limit;
}

TESSERA_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                               size_t count, void *parameters)
{
    struct driver_alloc_node_parameters *alloc = parameters;
    graph_memory_seen();
    if (alloc && !fits(alloc->bytes, alloc->pool.location.id)) {
        segment_count(TESSERA_COUNTER_LIMIT_REFUSALS, 1);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return REAL(cuGraphAddMemAllocNode)(node, graph, dependencies, count, parameters);
}

TESSERA_EXPORT CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                       void *parameters)
{
    if (parameters && *(const int *)parameters == NODE_TYPE_MEM_ALLOC)
        graph_memory_seen();
    return REAL(cuGraphAddNode)(node, graph, dependencies, count, parameters);
}

TESSERA_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          const void *dependency_data, size_t count, void *parameters)
{
    if (parameters && *(const int *)parameters == NODE_TYPE_MEM_ALLOC)
        graph_memory_seen();
    return REAL(cuGraphAddNode_v2)(node, graph, dependencies, dependency_data, count, parameters);
}
