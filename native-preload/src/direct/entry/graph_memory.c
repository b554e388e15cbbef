/* Entries that add allocation nodes to a graph, or update an executable graph. */
#include "direct/pools/captured_memory.h"
#include "direct/pools/graph_memory.h"
#include "direct/turns/resident_gate.h"
#include "session/quota.h"
#include "session/segment.h"
#include "tessera_entries.h"

/* Whether the node's memory could ever fit; if not, it is refused at once. */
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
    if (parameters && *(const int *)parameters == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        graph_memory_seen();
    return WHILE_RESIDENT(REAL(cuGraphAddNode)(node, graph, dependencies, count, parameters));
}

TESSERA_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          const void *dependency_data, size_t count, void *parameters)
{
    if (parameters && *(const int *)parameters == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        graph_memory_seen();
    return WHILE_RESIDENT(REAL(cuGraphAddNode_v2)(node, graph, dependencies, dependency_data, count, parameters));
}

/*
 * Whether to refuse an update with a graph that owns captured memory: the executable would use memory that it does not
 * own. The error is the driver's for graphs that it cannot update with; programs then instantiate again.
 */
static bool update_refused(CUgraph graph, int *result)
{
    bool refused = graph && captured_in(graph);
    if (refused && result)
        *result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return refused;
}

TESSERA_EXPORT CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, int *result)
{
    return update_refused(graph, result) ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                                         : WHILE_RESIDENT(REAL(cuGraphExecUpdate)(exec, graph, node, result));
}

TESSERA_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, void *information)
{
    /* The first field of the structure is the result. */
    return update_refused(graph, information) ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                                              : WHILE_RESIDENT(REAL(cuGraphExecUpdate_v2)(exec, graph, information));
}

/* Changes the dependencies of the stream's next node, so memory freed in the capture is not reused any more. */
TESSERA_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
                                                          unsigned flags)
{
    captured_order_changed();
    return REAL(cuStreamUpdateCaptureDependencies)(stream, nodes, count, flags);
}

TESSERA_EXPORT CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *nodes, size_t count,
                                                               unsigned flags)
{
    captured_order_changed();
    return REAL(cuStreamUpdateCaptureDependencies_ptsz)(stream, nodes, count, flags);
}

TESSERA_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes, const void *data,
                                                             size_t count, unsigned flags)
{
    captured_order_changed();
    return REAL(cuStreamUpdateCaptureDependencies_v2)(stream, nodes, data, count, flags);
}

TESSERA_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode *nodes, const void *data,
                                                                  size_t count, unsigned flags)
{
    captured_order_changed();
    return REAL(cuStreamUpdateCaptureDependencies_v2_ptsz)(stream, nodes, data, count, flags);
}
