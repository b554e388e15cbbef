/* How parameters of nodes are sent: the structure, then the data behind its pointers, but no address of the program; and the bounds. */
#include "relay/graphs/nodes.h"

#include "relay/memory/range.h"
#include "relay/player.h"
#include "relay/streams/graph_references.h"
#include "relay/wire/callbacks.h"

static void nothing(void *data)
{
    (void)data;
}

static void operations(void)
{
    static unsigned char list[257 * LAYOUT_MEMORY_OP];
    struct packed packed = {.word = -1};
    for (unsigned i = 0; i < sizeof list; i++)
        list[i] = (unsigned char)(i * 3);
    struct layout_memory_ops_node node = {.context = 0x1234, .count = 256, .operations = (uintptr_t)list, .flags = 5},
                                  sent;
    CHECK(pack_operations(&context, &node, &packed) == CUDA_SUCCESS &&
          packed.bytes == sizeof node + 256 * LAYOUT_MEMORY_OP);
    memcpy(&sent, packed.data, sizeof sent);
    CHECK(sent.context == 0 && sent.operations == 0 && sent.count == 256 && sent.flags == 5);
    CHECK(memcmp(packed.data + sizeof node, list, 256 * LAYOUT_MEMORY_OP) == 0);
    packed_release(&packed);
    node.count = 257;
    CHECK(pack_operations(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
    node.count = 1;
    node.operations = 0;
    CHECK(pack_operations(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
    node.count = 0;
    CHECK(pack_operations(&context, &node, &packed) == CUDA_SUCCESS && packed.bytes == sizeof node);
    packed_release(&packed);
}

static void allocations(void)
{
    static unsigned char access[65 * LAYOUT_ACCESS];
    struct packed packed = {.word = -1};
    memset(access, 7, sizeof access);
    struct layout_alloc_node node = {.access = (uintptr_t)access, .access_count = 64, .bytes = 4096}, sent;
    CHECK(pack_alloc(&context, &node, &packed) == CUDA_SUCCESS && packed.bytes == sizeof node + 64 * LAYOUT_ACCESS);
    memcpy(&sent, packed.data, sizeof sent);
    CHECK(sent.access == 0 && sent.access_count == 64 && sent.bytes == 4096 && packed.data[packed.bytes - 1] == 7);
    packed_release(&packed);
    node.access_count = 65;
    CHECK(pack_alloc(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
    node.access_count = UINT64_MAX;
    CHECK(pack_alloc(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
    node.access_count = 1;
    node.access = 0;
    CHECK(pack_alloc(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
}

/* A graph reads host memory when it runs, so a node may name pinned memory, but no other memory of the program. */
static void copies(void)
{
    struct packed packed = {.word = -1};
    const struct relay_range known = {
        .start = 0x10000, .bytes = 0x1000, .kind = RELAY_RANGE_PINNED, .link = &relay_links[0]};
    const struct relay_range registered = {
        .start = 0x20000, .bytes = 0x1000, .kind = RELAY_RANGE_REGISTERED, .link = &relay_links[0]};
    struct layout_copy copy = {.source = {.memory_type = 1, .host = 0x10000},
                               .destination = {.memory_type = 2, .device = 0x99000}};
    CHECK(relay_range_add(&known) && relay_range_add(&registered));
    CHECK(pack_copy(&context, &copy, &packed) == CUDA_SUCCESS && packed.bytes == sizeof copy &&
          memcmp(packed.data, &copy, sizeof copy) == 0);
    packed_release(&packed);
    copy.source.host = 0x20000;
    CHECK(pack_copy(&context, &copy, &packed) == CUDA_ERROR_NOT_SUPPORTED);
    copy.source = (struct layout_copy_side){.memory_type = 4, .device = 0x30000};
    CHECK(pack_copy(&context, &copy, &packed) == CUDA_ERROR_NOT_SUPPORTED);
    copy.source = copy.destination;
    copy.destination = (struct layout_copy_side){.memory_type = 1, .host = 0x30000};
    CHECK(pack_copy(&context, &copy, &packed) == CUDA_ERROR_NOT_SUPPORTED);
}

/* Once it is held, a host node's word belongs to the graph. If the node was not made, the word goes back. */
static void host_functions(void)
{
    struct packed packed = {.word = -1};
    struct callback behind;
    struct layout_host_node node = {.function = (uintptr_t)nothing, .data = 0x4321};
    CHECK(pack_host(&context, &(struct layout_host_node){0}, &packed) == CUDA_ERROR_INVALID_VALUE && packed.word == -1);
    CHECK(pack_host(&context, &node, &packed) == CUDA_SUCCESS && packed.word >= 0);
    int word = packed.word;
    struct layout_host_node sent;
    memcpy(&sent, packed.data, sizeof sent);
    CHECK(sent.function == 0 && sent.data == (uint64_t)word && callback_of(&relay_links[0], word, &behind) &&
          behind.data == (void *)0x4321);
    packed_release(&packed);
    CHECK(packed.word == -1 && !packed.data && !callback_of(&relay_links[0], word, &behind));
    CHECK(pack_host(&context, &node, &packed) == CUDA_SUCCESS);
    word = packed.word;
    packed_held(&packed, 0x77);
    packed_release(&packed);
    CHECK(callback_of(&relay_links[0], word, &behind) && graph_references_any(0x77));
    graph_references_end(0x77);
    CHECK(!callback_of(&relay_links[0], word, &behind));
}

/* The same in CUgraphNodeParams: the data behind a pointer follows the whole structure. */
static void any_node(void)
{
    struct packed packed = {.word = -1};
    struct callback behind;
    unsigned char list[2 * LAYOUT_MEMORY_OP];
    memset(list, 9, sizeof list);
    struct layout_node node = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                               .of.operations = {.count = 2, .operations = (uintptr_t)list}},
                       sent;
    CHECK(pack_node(&context, &node, &packed) == CUDA_SUCCESS && packed.bytes == sizeof node + sizeof list);
    memcpy(&sent, packed.data, sizeof sent);
    CHECK(sent.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && sent.of.operations.operations == 0 &&
          memcmp(packed.data + sizeof node, list, sizeof list) == 0);
    packed_release(&packed);

    node = (struct layout_node){.type = CU_GRAPH_NODE_TYPE_HOST, .of.host = {(uintptr_t)nothing, 0}};
    CHECK(pack_node(&context, &node, &packed) == CUDA_SUCCESS && packed.bytes == sizeof node &&
          callback_of(&relay_links[0], packed.word, &behind));
    int word = packed.word;
    packed_release(&packed);
    CHECK(!callback_of(&relay_links[0], word, &behind));

    node = (struct layout_node){.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                .of.conditional = {.size = 1024, .graphs = 5, .context = 6}};
    CHECK(pack_node(&context, &node, &packed) == CUDA_SUCCESS &&
          packed.bytes == sizeof node + 1024 * 8); /* room for what comes back */
    memcpy(&sent, packed.data, sizeof sent);
    CHECK(sent.of.conditional.graphs == 0 && sent.of.conditional.context == 0);
    packed_release(&packed);
    node.of.conditional.size = 1025;
    CHECK(pack_node(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
    node.of.conditional.size = 0;
    CHECK(pack_node(&context, &node, &packed) == CUDA_ERROR_INVALID_VALUE);
    node.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
    CHECK(pack_node(&context, &node, &packed) == CUDA_ERROR_NOT_SUPPORTED);
    node.type = 99;
    CHECK(pack_node(&context, &node, &packed) == CUDA_ERROR_NOT_SUPPORTED);
}

static CUresult refusal;
static bool refuse(const struct tessera_record *record)
{
    if (record->kind != TESSERA_RELAY_CALL || record->entry != ENTRY_cuGraphAddHostNode || refusal == CUDA_SUCCESS)
        return false;
    answer(record, refusal, NULL, 0);
    return true;
}

/* A node that the executor refuses leaves nothing behind. */
static void refused(void)
{
    CUgraph graph = (CUgraph)HANDLE(TESSERA_HANDLE_GRAPH, 6);
    CUgraphNode node = NULL, before = NULL;
    struct callback behind;
    const struct layout_host_node parameters = {.function = (uintptr_t)nothing};
    const struct node_call call = {.entry = ENTRY_cuGraphAddHostNode, .pack = pack_host, .parameters = &parameters};
    struct node_place place = {.node = &node, .graph = graph};
    CHECK(node_add(&(struct node_place){.node = &node, .graph = (CUgraph)0x10}, &call) != CUDA_SUCCESS);
    CHECK(node_add(&(struct node_place){.graph = graph}, &call) == CUDA_ERROR_INVALID_VALUE);
    CHECK(node_add(&(struct node_place){.node = &node, .graph = graph, .count = 1}, &call) == CUDA_ERROR_INVALID_VALUE);
    refusal = CUDA_ERROR_INVALID_VALUE;
    player_serves = refuse;
    CHECK(node_add(&place, &call) == CUDA_ERROR_INVALID_VALUE && !node && !graph_references_any((uintptr_t)graph));
    for (int word = 0; word < (int)TESSERA_RELAY_WORDS; word++)
        CHECK(!callback_of(&relay_links[0], word, &behind));
    refusal = CUDA_SUCCESS;
    place.dependencies = &before;
    place.count = 1;
    CHECK(node_add(&place, &call) == CUDA_SUCCESS && relay_handle_type((uintptr_t)node) == TESSERA_HANDLE_GRAPH_NODE &&
          graph_references_any((uintptr_t)graph));
    graph_references_end((uintptr_t)graph);
}

int main(void)
{
    player_begin();
    operations();
    allocations();
    copies();
    host_functions();
    any_node();
    refused();
    player_end();
    return 0;
}
