/*
 * Nodes that copy or set memory, and instantiation. The driver looks addresses up when a node is added or changed, and
 * again when the graph is instantiated, so the memory has to be mapped then.
 */
#include "direct/pools/driver_room.h"
#include "direct/turns/resident_gate.h"
#include "tessera_entries.h"

TESSERA_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                             size_t count, const void *copy, CUcontext context)
{
    return WHILE_RESIDENT(REAL(cuGraphAddMemcpyNode)(node, graph, dependencies, count, copy, context));
}

TESSERA_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                             size_t count, const void *set, CUcontext context)
{
    return WHILE_RESIDENT(REAL(cuGraphAddMemsetNode)(node, graph, dependencies, count, set, context));
}

TESSERA_EXPORT CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const void *copy)
{
    return WHILE_RESIDENT(REAL(cuGraphMemcpyNodeSetParams)(node, copy));
}

TESSERA_EXPORT CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const void *set)
{
    return WHILE_RESIDENT(REAL(cuGraphMemsetNodeSetParams)(node, set));
}

TESSERA_EXPORT CUresult cuGraphNodeSetParams(CUgraphNode node, void *parameters)
{
    return WHILE_RESIDENT(REAL(cuGraphNodeSetParams)(node, parameters));
}

TESSERA_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *copy,
                                                       CUcontext context)
{
    return WHILE_RESIDENT(REAL(cuGraphExecMemcpyNodeSetParams)(exec, node, copy, context));
}

TESSERA_EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *set,
                                                       CUcontext context)
{
    return WHILE_RESIDENT(REAL(cuGraphExecMemsetNodeSetParams)(exec, node, set, context));
}

TESSERA_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, void *parameters)
{
    return WHILE_RESIDENT(REAL(cuGraphExecNodeSetParams)(exec, node, parameters));
}

TESSERA_EXPORT CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes)
{
    return WITH_DRIVER_ROOM(WHILE_RESIDENT(REAL(cuGraphInstantiate)(exec, graph, node, log, bytes)));
}

TESSERA_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log,
                                              size_t bytes)
{
    return WITH_DRIVER_ROOM(WHILE_RESIDENT(REAL(cuGraphInstantiate_v2)(exec, graph, node, log, bytes)));
}

TESSERA_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    return WITH_DRIVER_ROOM(WHILE_RESIDENT(REAL(cuGraphInstantiateWithFlags)(exec, graph, flags)));
}

TESSERA_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, void *parameters)
{
    return WITH_DRIVER_ROOM(WHILE_RESIDENT(REAL(cuGraphInstantiateWithParams)(exec, graph, parameters)));
}

TESSERA_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph, void *parameters)
{
    return WITH_DRIVER_ROOM(WHILE_RESIDENT(REAL(cuGraphInstantiateWithParams_ptsz)(exec, graph, parameters)));
}

/* The driver also checks the address of a texture of linear memory. */
TESSERA_EXPORT CUresult cuTexObjectCreate(unsigned long long *object, const void *resource, const void *texture,
                                          const void *view)
{
    return WHILE_RESIDENT(REAL(cuTexObjectCreate)(object, resource, texture, view));
}
