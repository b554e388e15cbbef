/* Graphs. Parameters of kernel, fill and host nodes are laid out alike in both interfaces, but for the function. */
#include "runtime.h"

/* cudaKernelNodeParams; the driver's has two handles more at its end. */
struct runtime_kernel_node {
    void *function;
    dim3 grid, block;
    unsigned shared_bytes;
    void **arguments;
    void **extra;
};
struct driver_kernel_node {
    CUfunction function;
    dim3 grid, block;
    unsigned shared_bytes;
    void **arguments;
    void **extra;
    CUkernel kernel;
    CUcontext context;
};
_Static_assert(sizeof(struct driver_kernel_node) == 72, "CUDA_KERNEL_NODE_PARAMS");

FORWARD(cudaGraphCreate, cuGraphCreate, (CUgraph * graph, unsigned flags), (graph, flags))
FORWARD(cudaGraphDestroy, cuGraphDestroy, (CUgraph graph), (graph))
FORWARD(cudaGraphClone, cuGraphClone, (CUgraph * clone, CUgraph graph), (clone, graph))
FORWARD(cudaGraphNodeFindInClone, cuGraphNodeFindInClone, (CUgraphNode * node, CUgraphNode original, CUgraph clone),
        (node, original, clone))
FORWARD(cudaGraphNodeGetType, cuGraphNodeGetType, (CUgraphNode node, int *type), (node, (void *)type))
FORWARD(cudaGraphGetNodes, cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), (graph, nodes, count))
FORWARD(cudaGraphGetRootNodes, cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count),
        (graph, nodes, count))
FORWARD(cudaGraphDestroyNode, cuGraphDestroyNode, (CUgraphNode node), (node))
FORWARD(cudaGraphInstantiate, cuGraphInstantiateWithFlags,
        (CUgraphExec * runnable, CUgraph graph, unsigned long long flags), (runnable, graph, flags))
FORWARD(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,
        (CUgraphExec * runnable, CUgraph graph, unsigned long long flags), (runnable, graph, flags))
FORWARD(cudaGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec runnable), (runnable))
FORWARD(cudaGraphExecGetFlags, cuGraphExecGetFlags, (CUgraphExec runnable, unsigned long long *flags),
        (runnable, (void *)flags))
FORWARD(cudaGraphExecUpdate, cuGraphExecUpdate_v2, (CUgraphExec runnable, CUgraph graph, void *result),
        (runnable, graph, result))
FORWARD(cudaGraphDebugDotPrint, cuGraphDebugDotPrint, (CUgraph graph, const char *path, unsigned flags),
        (graph, path, flags))
ON_STREAM(cudaGraphLaunch, (CUgraphExec runnable, CUstream stream), cuGraphLaunch(runnable, stream))
ON_STREAM(cudaGraphUpload, (CUgraphExec runnable, CUstream stream), cuGraphUpload(runnable, stream))

#if RUNTIME_MAJOR >= 13
FORWARD(cudaGraphGetEdges, cuGraphGetEdges_v2,
        (CUgraph graph, CUgraphNode *from, CUgraphNode *to, void *edges, size_t *count), (graph, from, to, edges, count))
FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2,
        (CUgraphNode node, CUgraphNode *others, void *edges, size_t *count), (node, others, edges, count))
FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2,
        (CUgraphNode node, CUgraphNode *others, void *edges, size_t *count), (node, others, edges, count))
FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies_v2,
        (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *edges, size_t count),
        (graph, (void *)from, (void *)to, (void *)edges, count))
FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies_v2,
        (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *edges, size_t count),
        (graph, (void *)from, (void *)to, (void *)edges, count))
#else
FORWARD(cudaGraphGetEdges, cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count),
        (graph, from, to, count))
FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies,
        (CUgraphNode node, CUgraphNode *others, size_t *count), (node, others, count))
FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes,
        (CUgraphNode node, CUgraphNode *others, size_t *count), (node, others, count))
FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies,
        (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
        (graph, (void *)from, (void *)to, count))
FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies,
        (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
        (graph, (void *)from, (void *)to, count))
#endif

/* ---- Nodes -------------------------------------------------------------------------------------------------------- */

static cudaError_t kernel_node(const struct runtime_kernel_node *from, struct driver_kernel_node *to)
{
    CUkernel kernel;
    if (!from)
        return cudaErrorInvalidValue;
    cudaError_t failed = find_kernel(from->function, &kernel);
    *to = (struct driver_kernel_node){
        .grid = from->grid,
        .block = from->block,
        .shared_bytes = from->shared_bytes,
        .arguments = from->arguments,
        .extra = from->extra,
        .kernel = kernel,
    };
    return failed;
}

#define WITH_KERNEL(name, parameters, call)                                                                            \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        struct driver_kernel_node what;                                                                                \
        cudaError_t failed = kernel_node(from, &what);                                                                 \
        return keep(failed ? failed : call);                                                                           \
    }

WITH_KERNEL(cudaGraphAddKernelNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count,
             const struct runtime_kernel_node *from),
            cuGraphAddKernelNode_v2(node, graph, (void *)after, count, (void *)&what))
WITH_KERNEL(cudaGraphKernelNodeSetParams, (CUgraphNode node, const struct runtime_kernel_node *from),
            cuGraphKernelNodeSetParams_v2(node, (void *)&what))
WITH_KERNEL(cudaGraphExecKernelNodeSetParams,
            (CUgraphExec runnable, CUgraphNode node, const struct runtime_kernel_node *from),
            cuGraphExecKernelNodeSetParams_v2(runnable, node, (void *)&what))

/* The function comes back as the driver's kernel, which every call here takes as well. */
EXPORT cudaError_t cudaGraphKernelNodeGetParams(CUgraphNode node, struct runtime_kernel_node *to);
EXPORT cudaError_t cudaGraphKernelNodeGetParams(CUgraphNode node, struct runtime_kernel_node *to)
{
    struct driver_kernel_node found;
    cudaError_t failed = enter();
    if (!failed)
        failed = keep(to ? cuGraphKernelNodeGetParams_v2(node, (void *)&found) : cudaErrorInvalidValue);
    if (!failed)
        *to = (struct runtime_kernel_node){
            .function = found.kernel ? (void *)found.kernel : (void *)found.function,
            .grid = found.grid,
            .block = found.block,
            .shared_bytes = found.shared_bytes,
            .arguments = found.arguments,
            .extra = found.extra,
        };
    return failed;
}

static CUcontext context_now(void)
{
    CUcontext context = NULL;
    return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : NULL;
}

FORWARD(cudaGraphAddMemsetNode, cuGraphAddMemsetNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, const void *what),
        (node, graph, (void *)after, count, (void *)what, context_now()))
FORWARD(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, (CUgraphNode node, void *what), (node, what))
FORWARD(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, (CUgraphNode node, const void *what),
        (node, (void *)what))
FORWARD(cudaGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams,
        (CUgraphExec runnable, CUgraphNode node, const void *what), (runnable, node, (void *)what, context_now()))
FORWARD(cudaGraphAddHostNode, cuGraphAddHostNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, const void *what),
        (node, graph, (void *)after, count, (void *)what))
FORWARD(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams, (CUgraphNode node, void *what), (node, what))
FORWARD(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams, (CUgraphNode node, const void *what), (node, (void *)what))
FORWARD(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams,
        (CUgraphExec runnable, CUgraphNode node, const void *what), (runnable, node, (void *)what))
FORWARD(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, CUgraph child),
        (node, graph, (void *)after, count, child))
FORWARD(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *child),
        (node, child))
FORWARD(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams,
        (CUgraphExec runnable, CUgraphNode node, CUgraph child), (runnable, node, child))
FORWARD(cudaGraphAddEmptyNode, cuGraphAddEmptyNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count), (node, graph, (void *)after, count))
FORWARD(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, CUevent event),
        (node, graph, (void *)after, count, event))
FORWARD(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, (CUgraphNode node, CUevent *event),
        (node, event))
FORWARD(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event),
        (node, event))
FORWARD(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,
        (CUgraphExec runnable, CUgraphNode node, CUevent event), (runnable, node, event))
FORWARD(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, CUevent event),
        (node, graph, (void *)after, count, event))
FORWARD(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent *event), (node, event))
FORWARD(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
FORWARD(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
        (CUgraphExec runnable, CUgraphNode node, CUevent event), (runnable, node, event))
FORWARD(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, void *what),
        (node, graph, (void *)after, count, what))
FORWARD(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams, (CUgraphNode node, void *what), (node, what))
FORWARD(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, void *memory),
        (node, graph, (void *)after, count, (CUdeviceptr)(uintptr_t)memory))
FORWARD(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams, (CUgraphNode node, void *memory), (node, memory))
FORWARD(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled, (CUgraphExec runnable, CUgraphNode node, unsigned enabled),
        (runnable, node, enabled))
FORWARD(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled, (CUgraphExec runnable, CUgraphNode node, unsigned *enabled),
        (runnable, node, enabled))
FORWARD(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, (CUgraphNode node, int which, void *value),
        (node, which, value))
FORWARD(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute,
        (CUgraphNode node, int which, const void *value), (node, which, (void *)value))
FORWARD(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from),
        (to, from))

/* ---- User objects -------------------------------------------------------------------------------------------------- */

FORWARD(cudaUserObjectCreate, cuUserObjectCreate,
        (CUuserObject * object, void *data, void *destroy, unsigned count, unsigned flags),
        (object, data, destroy, count, flags))
FORWARD(cudaUserObjectRetain, cuUserObjectRetain, (CUuserObject object, unsigned count), (object, count))
FORWARD(cudaUserObjectRelease, cuUserObjectRelease, (CUuserObject object, unsigned count), (object, count))
FORWARD(cudaGraphRetainUserObject, cuGraphRetainUserObject,
        (CUgraph graph, CUuserObject object, unsigned count, unsigned flags), (graph, object, count, flags))
FORWARD(cudaGraphReleaseUserObject, cuGraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned count),
        (graph, object, count))
