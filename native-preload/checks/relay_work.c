/*
 * Launches, streams, events, captures, host functions, modules and graphs of the relay port, against a thread that plays
 * the executor (relay_executor.h).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay/code/image.h"
#include "relay/wire/results.h"
#include "relay_executor.h"
#include "relay_stubs.h"

/* Everything sent so far has been served: a call with an answer goes through the same ring. */
static void settle(void)
{
    CUstream stream;
    CHECK(relay_cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
    CHECK(relay_cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
}

static CUfunction function;
static const char ptx[] = ".version 8.0\n.target sm_90\n";

static void check_modules(void)
{
    CUmodule module;
    CUfunction again;
    CHECK(relay_cuModuleLoadData(&module, ptx) == CUDA_SUCCESS);
    CHECK(relay_cuModuleGetFunction(&function, module, "f") == CUDA_SUCCESS);
    CHECK(relay_cuModuleGetFunction(&again, module, "f") == CUDA_SUCCESS && again == function);
    CHECK(calls[ENTRY_cuModuleGetFunction] == 1);

    char log[64] = "";
    int options[] = {4, 3};
    void *values[] = {(void *)sizeof log, log};
    CHECK(relay_cuModuleLoadDataEx(&module, ptx, 2, options, values) == CUDA_SUCCESS);
    CHECK(strcmp(log, "ptxas says hello") == 0 && values[0] == (void *)17 && values[1] == log);
    int addresses[] = {17};
    CHECK(relay_cuModuleLoadDataEx(&module, ptx, 1, addresses, values) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(relay_cuModuleLoad(&module, "/no/such/file") == CUDA_ERROR_FILE_NOT_FOUND);
    CHECK(relay_cuModuleLoadData(&module, "MZ") == CUDA_ERROR_INVALID_IMAGE);
}

static void check_images(void)
{
    static struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
        unsigned char entries[200000];
    } fatbin = {0xba55ed50u, 1, 16, 200000, {0}}, part = {0xba55ed50u, 1, 16, 24, {0}};
    struct {
        uint32_t magic, version;
        const void *data;
        const void *const *linked;
    } wrapper = {0x466243b1u, 1, &fatbin, NULL};
    const void *parts[] = {&part, NULL};
    struct image image;
    CHECK(image_measure(&wrapper, &image) == CUDA_SUCCESS && image.bytes == 200016 && image.data == &fatbin);
    wrapper.version = 2;
    wrapper.linked = parts;
    CHECK(image_measure(&wrapper, &image) == CUDA_SUCCESS && image.bytes == 16 + 16 + 200016 + 40);
    image_release(&image);
    part.bytes = ~0ULL;
    CHECK(image_measure(&part, &image) == CUDA_ERROR_INVALID_IMAGE);
    CHECK(image_measure("", &image) == CUDA_ERROR_INVALID_IMAGE);

    CUmodule module;
    bulk_bytes = 0;
    wrapper.version = 1;
    CHECK(relay_cuModuleLoadFatBinary(&module, &wrapper) == CUDA_SUCCESS);
    CHECK(bulk_bytes == 200016);
}

static CUresult launch(unsigned blocks, unsigned threads, unsigned shared_bytes, CUstream stream)
{
    uint64_t pointer = 0x1234567890ULL;
    uint32_t number = 77;
    char bytes[3] = {'a', 'b', 'c'};
    void *parameters[] = {&pointer, &number, bytes};
    return relay_cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, parameters, NULL);
}

static void check_launches(void)
{
    CHECK(launch(3, 64, 10, NULL) == CUDA_SUCCESS);
    settle();
    const struct tessera_record *record = (const struct tessera_record *)launch_record;
    const struct tessera_launch *body = (const struct tessera_launch *)(record + 1);
    CHECK(record->context == 5 && body->grid[0] == 3 && body->block[0] == 64 && body->shared_bytes == 10);
    CHECK(body->parameter_bytes == 15 && body->stream == 0 && body->function == (uintptr_t)function);
    CHECK(memcmp((const char *)(body + 1) + 8, "M\0\0\0abc", 7) == 0);

    CHECK(launch(0, 64, 0, NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(1, 1025, 0, NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(1, 513, 0, NULL) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    CHECK(launch(1, 1, 1001, NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(1, 1, 0, (CUstream)(uintptr_t)HANDLE(TESSERA_HANDLE_STREAM, 9)) == CUDA_ERROR_INVALID_HANDLE);
    char buffer[16];
    size_t bytes = 16;
    void *extra[] = {(void *)1, buffer, (void *)2, &bytes, NULL};
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    bytes = 15;
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == CUDA_SUCCESS);
    memset(buffer, 'x', sizeof buffer);
    bytes = 9;
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == CUDA_SUCCESS);
    settle();
    CHECK(body->parameter_bytes == 15 && memcmp(body + 1, "xxxxxxxxx\0\0\0\0\0", 15) == 0);
    extra[1] = NULL;
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == CUDA_ERROR_INVALID_VALUE);

    segment->call_error = 719; /* of work before: told once */
    CHECK(launch(1, 1, 0, NULL) == 719 && launch(1, 1, 0, NULL) == CUDA_SUCCESS);
    CHECK(seen[TESSERA_RELAY_QUERY] == 1);
}

static void time_launches(void)
{
    enum { ROUNDS = 40, COUNT = 1000 };
    uint64_t best_ns = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        settle();
        uint64_t from_ns = monotonic_ns();
        for (int i = 0; i < COUNT; i++)
            launch(1, 64, 0, NULL);
        uint64_t each_ns = (monotonic_ns() - from_ns) / COUNT;
        best_ns = each_ns < best_ns ? each_ns : best_ns;
    }
    printf("launch: %llu ns\n", (unsigned long long)best_ns);
    CHECK(best_ns < 3000); /* a loaded builder; the figure itself is the benchmark's matter */
}

static void check_streams(void)
{
    CUstream stream;
    CHECK(relay_cuStreamCreate(&stream, 1) == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_SUCCESS);
    unsigned marks = seen[TESSERA_RELAY_MARK];
    CHECK(relay_cuStreamQuery(stream) == CUDA_SUCCESS && relay_cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(seen[TESSERA_RELAY_MARK] == marks); /* nothing was submitted: nothing was asked */

    hold_marks = true;
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    settle();
    CHECK(held_count == 1);
    hold_marks = false;
    write_word(&held[0], TESSERA_RELAY_MARK);
    held_count = 0;
    marks = seen[TESSERA_RELAY_MARK];
    CHECK(relay_cuStreamQuery(stream) == CUDA_SUCCESS); /* what others did meanwhile does not matter */
    CHECK(seen[TESSERA_RELAY_MARK] == marks);
    CHECK(relay_cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, (CUstream)2) == CUDA_SUCCESS); /* the thread's own */
    settle();
    CHECK(((struct tessera_launch *)(launch_record + 16))->stream > TESSERA_HANDLE_TAG);
    CHECK(relay_cuStreamDestroy_v2((CUstream)2) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(relay_cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE);
}

static void check_events(void)
{
    CUevent event;
    CUstream stream;
    CHECK(relay_cuStreamCreate(&stream, 1) == CUDA_SUCCESS);
    CHECK(relay_cuEventCreate(&event, 2) == CUDA_SUCCESS);
    CHECK(relay_cuEventQuery(event) == CUDA_SUCCESS); /* never recorded */
    hold_marks = true;
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    settle();
    CHECK(held_count == 1);
    hold_marks = false;
    write_word(&held[0], TESSERA_RELAY_WATCH_EVENT); /* a query asks about the event itself */
    held_count = 0;
    unsigned marks = seen[TESSERA_RELAY_MARK], watches = seen[TESSERA_RELAY_WATCH_EVENT];
    CHECK(relay_cuEventQuery(event) == CUDA_SUCCESS);
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_SUCCESS); /* the stream has passed what is complete */
    CHECK(seen[TESSERA_RELAY_MARK] <= marks + 1 && watches == 1); /* the event was its stream's last work */
    marks = seen[TESSERA_RELAY_MARK];
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventSynchronize(event) == CUDA_SUCCESS);
    settle();
    CHECK(seen[TESSERA_RELAY_MARK] == marks + 1 && seen[TESSERA_RELAY_WATCH_EVENT] == 1);
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventSynchronize(event) == CUDA_SUCCESS); /* work lies behind it: a mark would wait for that too */
    settle();
    CHECK(seen[TESSERA_RELAY_MARK] == marks + 1 && seen[TESSERA_RELAY_WATCH_EVENT] == 2);
    CHECK(relay_cuEventDestroy_v2(event) == CUDA_SUCCESS && relay_cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(relay_cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
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

static void check_host_functions(void)
{
    static unsigned one = 1;
    for (int i = 0; i < 100; i++)
        CHECK(relay_cuLaunchHostFunc(NULL, (void *)(uintptr_t)count_call, &one) == CUDA_SUCCESS);
    CHECK(called_becomes(100));
}

static void check_captures(void)
{
    static unsigned ten = 10;
    CUstream stream, other;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    CUuserObject object;
    int state;
    uint64_t id = 0, same = 0;
    called = 0;
    CHECK(relay_cuStreamCreate(&stream, 0) == CUDA_SUCCESS && relay_cuStreamCreate(&other, 1) == CUDA_SUCCESS);
    CHECK(relay_cuEventCreate(&event, 2) == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_ERROR_ILLEGAL_STATE);
    CHECK(relay_cuStreamBeginCapture_v2(NULL, 0) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(relay_cuStreamBeginCapture_v2(stream, 0) == CUDA_SUCCESS);
    CHECK(relay_cuStreamGetCaptureInfo(stream, &state, &id) == CUDA_SUCCESS && state == 1 && id != 0);
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamWaitEvent(other, event, 0) == CUDA_SUCCESS);
    CHECK(relay_cuStreamGetCaptureInfo(other, &state, &same) == CUDA_SUCCESS && state == 1 && id == same);
    CHECK(relay_cuLaunchHostFunc(other, (void *)(uintptr_t)count_call, &ten) == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(other, &graph) == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CHECK(relay_cuStreamIsCapturing(NULL, &state) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    settle();
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && graph);
    CHECK(relay_cuStreamIsCapturing(other, &state) == CUDA_SUCCESS && state == 0);
    CHECK(called_becomes(10)); /* our executor does not tell captured calls from others */

    CHECK(relay_cuUserObjectCreate(&object, &ten, (void *)(uintptr_t)count_call, 1, 1) == CUDA_SUCCESS);
    CHECK(relay_cuGraphRetainUserObject(graph, object, 1, 1) == CUDA_SUCCESS);
    CHECK(relay_cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
    CHECK(relay_cuGraphLaunch(exec, other) == CUDA_SUCCESS);
    CHECK(relay_cuGraphDestroy(graph) == CUDA_SUCCESS && called == 10);
    CHECK(relay_cuGraphExecDestroy(exec) == CUDA_SUCCESS);
    CHECK(called_becomes(20)); /* the destructor, behind the last launch */

    CHECK(relay_cuStreamBeginCapture_v2(stream, 2) == CUDA_SUCCESS);
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(relay_cuStreamIsCapturing(stream, &state) == CUDA_SUCCESS && state == 2);
    CHECK(launch(1, 1, 0, stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && !graph);
    CHECK(relay_cuStreamBeginCapture_v2(stream, 2) == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void check_nodes(void)
{
    static unsigned one = 1;
    CUgraph graph = (CUgraph)(uintptr_t)HANDLE(TESSERA_HANDLE_GRAPH, 5);
    CUgraphNode node;
    uint64_t pointer = 1;
    uint32_t number = 2;
    void *parameters[] = {&pointer, &number, "xyz"};
    struct layout_kernel_node kernel = {.function = (uintptr_t)function, .grid = {1, 1, 1}, .block = {8, 1, 1},
                                        .parameters = (uintptr_t)parameters}, back;
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
        CHECK(called_becomes(run) && segment->word[word->data] == 0);
    }
    CHECK(relay_cuGraphDestroy(graph) == CUDA_SUCCESS);
}

static void check_occupancy(void)
{
    int blocks = 0;
    for (int i = 0; i < 3; i++)
        CHECK(relay_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0) == CUDA_SUCCESS &&
              blocks == 4);
    CHECK(calls[ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags] == 1);
    CHECK(relay_cuFuncSetAttribute(function, 8, 900) == CUDA_SUCCESS);
    CHECK(relay_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0) == CUDA_SUCCESS);
    CHECK(calls[ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags] == 2);
}

int main(void)
{
    static struct relay_context context;
    pthread_t executor;
    alarm(60);
    segment = aligned_alloc(4096, sizeof *segment);
    memset(segment, 0, sizeof *segment);
    segment->device.attributes[1] = segment->device.attributes[2] = 1024;
    segment->device.attribute_valid[1] = segment->device.attribute_valid[2] = 1;
    relay_links[0] = (struct relay_link){.segment = segment, .socket = -1};
    relay_link_count = 1;
    context = (struct relay_context){.link = &relay_links[0], .number = 5, .alive = true};
    relay_current = &context;
    segment->executor_heartbeat_ns = monotonic_ns();
    pthread_create(&executor, NULL, execute, NULL);
    check_modules();
    check_images();
    check_launches();
    check_streams();
    check_events();
    check_host_functions();
    check_captures();
    check_nodes();
    check_occupancy();
    time_launches();
    __atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
    pthread_join(executor, NULL);
    printf("relay work: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
