/*
 * Launches, streams, events, captures, host functions, modules and graphs of the relay port, against a thread that plays
 * the executor: it reads the ring as RELAY.md says, answers, and writes words.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "relay/image.h"
#include "relay/layouts.h"
#include "relay/relay.h"
#include "relay/results.h"
#include "relay_stubs.h"

#define HANDLE(type, index) (TESSERA_HANDLE_TAG | (uint64_t)(type) << 40 | (uint64_t)(index) << 4)
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                     \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static int failures;
static struct tessera_relay_segment *segment;
static bool stopping;
static uint64_t made = 100;

/* The check plays a program that has started: --wrap, since there is no manager. */
CUresult __wrap_relay_started(void);
CUresult __wrap_relay_started(void)
{
    return CUDA_SUCCESS;
}

/* What the executor saw. */
static unsigned seen[9];
static unsigned calls[TESSERA_ENTRY_COUNT];
static unsigned char launch_record[4096];
static unsigned char last_call[TESSERA_ENTRY_COUNT][512]; /* after the header */
static uint64_t bulk_bytes;
static bool hold_marks; /* streams do not get on */
static struct tessera_mark held[64];
static unsigned held_count;

static void answer(const struct tessera_record *record, CUresult result, const void *out, uint32_t bytes)
{
    if (record->slot == 0)
        return;
    struct tessera_reply *reply = (struct tessera_reply *)segment->reply[record->slot - 1];
    if (bytes)
        memcpy(reply + 1, out, bytes);
    reply->result = result;
    reply->bytes = bytes;
    __atomic_store_n(&reply->sequence, reply->expected, __ATOMIC_RELEASE);
}

/* f(u64 pointer, u32 number, 3 bytes): offsets 0, 8, 12. */
static void tell_function(const struct tessera_record *record)
{
    static struct tessera_function_info info;
    info = (struct tessera_function_info){.valid = 1u << 0 | 1u << 8, .parameter_bytes = 15, .parameters = 3,
                                          .function = HANDLE(TESSERA_HANDLE_FUNCTION, 7)};
    info.attributes[0] = 512;
    info.attributes[8] = 1000;
    info.parameter[0] = (struct tessera_parameter){0, 8};
    info.parameter[1] = (struct tessera_parameter){8, 4};
    info.parameter[2] = (struct tessera_parameter){12, 3};
    answer(record, CUDA_SUCCESS, &info, sizeof info);
}

static uint64_t fresh(unsigned type)
{
    return HANDLE(type, made++);
}

static void serve_call(const struct tessera_record *record)
{
    unsigned entry = record->entry;
    const uint64_t *words = (const uint64_t *)(record + 1);
    uint64_t handle[16] = {0};
    calls[entry]++;
    size_t bytes = (size_t)record->length - sizeof *record;
    memcpy(last_call[entry], words, bytes < sizeof last_call[0] ? bytes : sizeof last_call[0]);
    switch (entry) {
    case ENTRY_cuModuleLoadDataEx:
        handle[0] = fresh(TESSERA_HANDLE_MODULE);
        if (words[4]) { /* two options: the size of the log, and the log */
            const char *log = "ptxas says hello";
            handle[1] = strlen(log) + 1;
            memcpy(&handle[3], log, strlen(log) + 1);
            answer(record, CUDA_SUCCESS, handle, 8 + 16 + 64);
            return;
        }
        break;
    case ENTRY_cuModuleGetFunction:
        handle[0] = HANDLE(TESSERA_HANDLE_FUNCTION, 7);
        break;
    case ENTRY_cuStreamCreateWithPriority:
        handle[0] = fresh(TESSERA_HANDLE_STREAM);
        break;
    case ENTRY_cuEventCreate:
        handle[0] = fresh(TESSERA_HANDLE_EVENT);
        break;
    case ENTRY_cuStreamEndCapture:
    case ENTRY_cuGraphClone:
        handle[0] = fresh(TESSERA_HANDLE_GRAPH);
        break;
    case ENTRY_cuGraphInstantiateWithFlags:
        handle[0] = fresh(TESSERA_HANDLE_GRAPH_EXEC);
        break;
    case ENTRY_cuGraphAddKernelNode_v2:
    case ENTRY_cuGraphAddHostNode:
        handle[0] = fresh(TESSERA_HANDLE_GRAPH_NODE);
        break;
    case ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
        handle[0] = 4;
        break;
    case ENTRY_cuGraphKernelNodeGetParams_v2: {
        struct {
            struct layout_kernel_node node;
            unsigned char packed[16];
        } out = {.node = {.function = HANDLE(TESSERA_HANDLE_FUNCTION, 7)}};
        memcpy(out.packed, "\1\2\3\4\5\6\7\10\21\0\0\0abc", 15);
        answer(record, CUDA_SUCCESS, &out, sizeof out);
        return;
    }
    default:
        break;
    }
    answer(record, CUDA_SUCCESS, handle, 8);
}

static void write_word(const struct tessera_mark *mark, unsigned kind)
{
    __atomic_store_n(&segment->word[mark->word], kind == TESSERA_RELAY_HOST_CALL ? 1 : mark->value, __ATOMIC_RELEASE);
}

static void serve(const struct tessera_record *record)
{
    const struct tessera_mark *mark = (const struct tessera_mark *)(record + 1);
    seen[record->kind]++;
    switch (record->kind) {
    case TESSERA_RELAY_CALL:
        serve_call(record);
        break;
    case TESSERA_RELAY_BULK:
        CHECK(((const struct tessera_bulk *)(record + 1))->offset == bulk_bytes);
        bulk_bytes += ((const struct tessera_bulk *)(record + 1))->bytes;
        break;
    case TESSERA_RELAY_LAUNCH:
        memcpy(launch_record, record, (size_t)record->length);
        break;
    case TESSERA_RELAY_QUERY:
        tell_function(record);
        break;
    case TESSERA_RELAY_MARK:
    case TESSERA_RELAY_WATCH_EVENT:
    case TESSERA_RELAY_HOST_CALL:
        if (hold_marks)
            held[held_count++] = *mark;
        else
            write_word(mark, record->kind);
        break;
    }
}

static void *execute(void *unused)
{
    static unsigned char copy[TESSERA_RELAY_RECORD_MAX];
    (void)unused;
    while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&segment->executor_heartbeat_ns, monotonic_ns(), __ATOMIC_RELAXED);
        struct tessera_record *record =
            (struct tessera_record *)(segment->ring + (segment->consumed & (TESSERA_RELAY_RING_BYTES - 1)));
        int32_t length = __atomic_load_n(&record->length, __ATOMIC_ACQUIRE);
        if (length <= 0) {
            sched_yield();
            continue;
        }
        uint64_t room = ((uint64_t)length + 15) & ~15ULL;
        memcpy(copy, record, (size_t)length);
        memset(record, 0, room);
        if (((struct tessera_record *)copy)->kind != TESSERA_RELAY_PADDING)
            serve((struct tessera_record *)copy);
        __atomic_store_n(&segment->consumed, segment->consumed + room, __ATOMIC_RELEASE);
    }
    return NULL;
}

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
    held_count = 0;
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_SUCCESS); /* what the stream has passed is complete */
    CHECK(relay_cuEventQuery(event) == CUDA_SUCCESS);
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventSynchronize(event) == CUDA_SUCCESS);
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
