/* Nodes of graphs, and what graphs keep alive, against a thread that plays the executor. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "relay/player.h"
#include "relay_stubs.h"

static CUfunction function;

static void load(void)
{
    CUmodule module;
    CHECK(relay_cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n") == CUDA_SUCCESS);
    CHECK(relay_cuModuleGetFunction(&function, module, "f") == CUDA_SUCCESS);
}

static unsigned called;
static void count_call(void *data)
{
    __atomic_fetch_add(&called, *(unsigned *)data, __ATOMIC_SEQ_CST);
}

static bool called_becomes(unsigned wanted)
{
    for (int i = 0; i < 2000 && __atomic_load_n(&called, __ATOMIC_SEQ_CST) != wanted; i++)
        usleep(1000);
    return called == wanted;
}

static void user_objects(void)
{
    static unsigned ten = 10;
    CUgraph graph = (CUgraph)(uintptr_t)HANDLE(TESSERA_HANDLE_GRAPH, 4);
    CUgraphExec exec;
    CUuserObject object;
    CUstream other;
    called = 0;
    CHECK(relay_cuStreamCreate(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(relay_cuUserObjectCreate(&object, &ten, (void *)(uintptr_t)count_call, 1, 1) == CUDA_SUCCESS);
    CHECK(relay_cuGraphRetainUserObject(graph, object, 1, 1) == CUDA_SUCCESS);
    CHECK(relay_cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
    CHECK(relay_cuGraphLaunch(exec, other) == CUDA_SUCCESS);
    CHECK(relay_cuGraphDestroy(graph) == CUDA_SUCCESS && called == 0);
    CHECK(relay_cuGraphExecDestroy(exec) == CUDA_SUCCESS);
    CHECK(called_becomes(10)); /* the destructor, behind the last launch */
}

static void nodes(void)
{
    static unsigned one = 1;
    CUgraph graph = (CUgraph)(uintptr_t)HANDLE(TESSERA_HANDLE_GRAPH, 5);
    CUgraphNode node;
    uint64_t pointer = 1;
    uint32_t number = 2;
    void *parameters[] = {&pointer, &number, "xyz"};
    struct layout_kernel_node kernel = {.function = (uintptr_t)function,
                                        .grid = {1, 1, 1},
                                        .block = {8, 1, 1},
                                        .parameters = (uintptr_t)parameters},
                              back;
    CHECK(relay_cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel) == CUDA_SUCCESS);
    const unsigned char *sent = last_call[ENTRY_cuGraphAddKernelNode_v2] + 5 * 8;
    CHECK(memcmp(sent + sizeof kernel + 8, "\2\0\0\0xyz", 7) == 0);
    kernel.block[0] = 0;
    CHECK(relay_cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuGraphKernelNodeGetParams_v2(node, &back) == CUDA_SUCCESS);
    void **got = (void **)(uintptr_t)back.parameters;
    CHECK(*(uint32_t *)got[1] == 17 && memcmp(got[2], "abc", 3) == 0);

    const struct layout_host_node host = {(uintptr_t)count_call, (uintptr_t)&one};
    called = 0;
    CHECK(relay_cuGraphAddHostNode(&node, graph, NULL, 0, &host) == CUDA_SUCCESS);
    const struct layout_host_node *word = (const void *)(last_call[ENTRY_cuGraphAddHostNode] + 5 * 8);
    CHECK(word->function == 0 && word->data < TESSERA_RELAY_WORDS);
    for (unsigned run = 1; run <= 3; run++) { /* as a graph does at each launch */
        __atomic_store_n(&segment->word[word->data], 1, __ATOMIC_SEQ_CST);
        CHECK(called_becomes(run) && __atomic_load_n(&segment->word[word->data], __ATOMIC_ACQUIRE) == 0);
    }
    CHECK(relay_cuGraphDestroy(graph) == CUDA_SUCCESS);
}

int main(void)
{
    player_begin();
    load();
    user_objects();
    nodes();
    player_end();
    return 0;
}
