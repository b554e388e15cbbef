/* cuGraphDebugDotPrint: writes the graph as Graphviz text, from the nodes and edges that the executor lists. */
#include <stdio.h>
#include <stdlib.h>

#include "relay/code/functions.h"
#include "relay/graphs/graphs.h"
#include "relay/wire/layouts.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

#define MAX_NODES 8000u /* as many as a reply carries */
#define MAX_EDGES 4000u

static const char *type_name(int type)
{
    static const char *const names[] = {
        "KERNEL",       "MEMCPY",           "MEMSET",         "HOST",      "GRAPH",    "EMPTY",        "WAIT_EVENT",
        "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL"};
    return type >= 0 && type < (int)(sizeof names / sizeof names[0]) ? names[type] : "UNKNOWN";
}

static void write_node(FILE *file, CUgraphNode node)
{
    struct layout_kernel_node kernel;
    const char *name = NULL;
    int type = -1;
    relay_cuGraphNodeGetType(node, &type);
    if (type == CU_GRAPH_NODE_TYPE_KERNEL && relay_cuGraphKernelNodeGetParams_v2(node, &kernel) == CUDA_SUCCESS)
        relay_cuFuncGetName(&name, (CUfunction)(uintptr_t)kernel.function);
    if (name)
        fprintf(file, "\"%p\"[shape=\"octagon\" label=\"%s\\n%s\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>\"];\n", (void *)node,
                type_name(type), name, kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
                kernel.block[2], kernel.shared_bytes);
    else
        fprintf(file, "\"%p\"[shape=\"rectangle\" label=\"%s\"];\n", (void *)node, type_name(type));
}

static CUresult write_edges(FILE *file, CUgraph graph)
{
    size_t count = MAX_EDGES;
    CUgraphNode *from = calloc(2 * MAX_EDGES, sizeof *from);
    if (!from)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = relay_cuGraphGetEdges(graph, from, from + MAX_EDGES, &count);
    for (size_t i = 0; result == CUDA_SUCCESS && i < count && i < MAX_EDGES; i++)
        fprintf(file, "\"%p\" -> \"%p\";\n", (void *)from[i], (void *)from[MAX_EDGES + i]);
    free(from);
    return result;
}

static CUresult write_graph(FILE *file, CUgraph graph)
{
    size_t count = MAX_NODES;
    CUgraphNode *nodes = calloc(MAX_NODES, sizeof *nodes);
    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = relay_cuGraphGetNodes(graph, nodes, &count);
    fprintf(file, "digraph dot {\n");
    for (size_t i = 0; result == CUDA_SUCCESS && i < count && i < MAX_NODES; i++)
        write_node(file, nodes[i]);
    free(nodes);
    if (result == CUDA_SUCCESS)
        result = write_edges(file, graph);
    fprintf(file, "}\n");
    return result;
}

CUresult relay_cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags)
{
    struct relay_context *context;
    size_t nodes = 0, edges = 0;
    (void)flags; /* ignored: a kernel node shows its name and launch shape, any other its type */
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !path)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = relay_cuGraphGetNodes(graph, NULL, &nodes);
    if (result == CUDA_SUCCESS)
        result = relay_cuGraphGetEdges(graph, NULL, NULL, &edges);
    if (result != CUDA_SUCCESS)
        return result;
    if (nodes > MAX_NODES || edges > MAX_EDGES)
        return relay_unsupported("cuGraphDebugDotPrint", "a graph of more than 8000 nodes or 4000 edges");
    FILE *file = fopen(path, "we");
    if (!file)
        return CUDA_ERROR_OPERATING_SYSTEM;
    result = write_graph(file, graph);
    return fclose(file) == 0 ? result : CUDA_ERROR_OPERATING_SYSTEM;
}
