/* Launches, streams, events, host functions and captures, against a thread that plays the executor. */
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

static CUresult launch(unsigned blocks, unsigned threads, unsigned shared_bytes, CUstream stream)
{
    uint64_t pointer = 0x1234567890ULL;
    uint32_t number = 77;
    char bytes[3] = {'a', 'b', 'c'};
    void *parameters[] = {&pointer, &number, bytes};
    return relay_cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, parameters, NULL);
}

static void launches(void)
{
    CHECK(launch(3, 64, 10, NULL) == CUDA_SUCCESS);
    player_settle();
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
    player_settle();
    CHECK(body->parameter_bytes == 15 && memcmp(body + 1, "xxxxxxxxx\0\0\0\0\0", 15) == 0);
    extra[1] = NULL;
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == CUDA_ERROR_INVALID_VALUE);

    segment->call_error = 719; /* of earlier work: reported once */
    CHECK(launch(1, 1, 0, NULL) == 719 && launch(1, 1, 0, NULL) == CUDA_SUCCESS);
    CHECK(seen[TESSERA_RELAY_QUERY] == 1);
}

/* The thread's context decides, but not for a stream of another context. A refused launch is neither sent nor counted. */
static void launches_without_context(void)
{
    CUstream stream;
    struct relay_context other = {.link = context.link, .number = 6, .alive = true};
    const struct tessera_record *record = (const struct tessera_record *)launch_record;
    CHECK(relay_cuStreamCreate(&stream, 0) == CUDA_SUCCESS && launch(1, 1, 0, stream) == CUDA_SUCCESS);
    uint64_t counted = thread_slot->submitted[TESSERA_KIND_LAUNCH];
    player_settle();
    unsigned sent = seen[TESSERA_RELAY_LAUNCH];

    relay_current = NULL;
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(launch(1, 1, 0, (CUstream)(uintptr_t)HANDLE(TESSERA_HANDLE_STREAM, 9)) == CUDA_ERROR_INVALID_CONTEXT);
    callback_inside = true;
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_NOT_PERMITTED);
    callback_inside = false;
    relay_current = &other;
    other.alive = false;
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    relay_current = &context;
    segment->context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_ILLEGAL_ADDRESS && launch(1, 1, 0, stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    segment->context_error = 0;
    context.link->lost = 1;
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(launch(1, 1, 0, stream) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    context.link->lost = 0;
    player_settle();
    CHECK(seen[TESSERA_RELAY_LAUNCH] == sent && thread_slot->submitted[TESSERA_KIND_LAUNCH] == counted);

    relay_current = &other;
    other.alive = true;
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    player_settle();
    CHECK(record->context == 5 && thread_slot->submitted[TESSERA_KIND_LAUNCH] == counted + 1);
    relay_current = &context;
    CHECK(relay_cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
}

static void streams(void)
{
    CUstream stream;
    CHECK(relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_SUCCESS);
    unsigned marks = seen[TESSERA_RELAY_MARK];
    CHECK(relay_cuStreamQuery(stream) == CUDA_SUCCESS && relay_cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(seen[TESSERA_RELAY_MARK] == marks); /* nothing was submitted, so nothing was asked */

    __atomic_store_n(&hold_marks, true, __ATOMIC_RELEASE);
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    player_settle();
    CHECK(__atomic_load_n(&held_count, __ATOMIC_ACQUIRE) == 1);
    __atomic_store_n(&hold_marks, false, __ATOMIC_RELEASE);
    write_word(&held[0], TESSERA_RELAY_MARK);
    held_count = 0;
    marks = seen[TESSERA_RELAY_MARK];
    CHECK(relay_cuStreamQuery(stream) == CUDA_SUCCESS); /* what others did meanwhile does not matter */
    CHECK(seen[TESSERA_RELAY_MARK] == marks);
    CHECK(relay_cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, (CUstream)2) == CUDA_SUCCESS); /* the thread's own */
    player_settle();
    CHECK(((struct tessera_launch *)(launch_record + 16))->stream > TESSERA_HANDLE_TAG);
    CHECK(relay_cuStreamDestroy_v2((CUstream)2) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(relay_cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE);
}

static void events(void)
{
    CUevent event;
    CUstream stream;
    CHECK(relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(relay_cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    CHECK(relay_cuEventQuery(event) == CUDA_SUCCESS); /* never recorded */
    __atomic_store_n(&hold_marks, true, __ATOMIC_RELEASE);
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    player_settle();
    CHECK(__atomic_load_n(&held_count, __ATOMIC_ACQUIRE) == 1);
    __atomic_store_n(&hold_marks, false, __ATOMIC_RELEASE);
    write_word(&held[0], TESSERA_RELAY_WATCH_EVENT); /* a query asks about the event itself */
    held_count = 0;
    unsigned marks = seen[TESSERA_RELAY_MARK], watches = seen[TESSERA_RELAY_WATCH_EVENT];
    CHECK(relay_cuEventQuery(event) == CUDA_SUCCESS);
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_SUCCESS);     /* the event shows that the stream is done */
    CHECK(seen[TESSERA_RELAY_MARK] <= marks + 1 && watches == 1); /* the event was its stream's last work */
    marks = seen[TESSERA_RELAY_MARK];
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventSynchronize(event) == CUDA_SUCCESS);
    player_settle();
    CHECK(seen[TESSERA_RELAY_MARK] == marks + 1 && seen[TESSERA_RELAY_WATCH_EVENT] == 1);
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, stream) == CUDA_SUCCESS);
    CHECK(relay_cuEventSynchronize(event) == CUDA_SUCCESS); /* work lies behind it: a mark would wait for that too */
    player_settle();
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

static void host_functions(void)
{
    static unsigned one = 1;
    for (int i = 0; i < 100; i++)
        CHECK(relay_cuLaunchHostFunc(NULL, (void *)(uintptr_t)count_call, &one) == CUDA_SUCCESS);
    CHECK(called_becomes(100));
}

static void captures(void)
{
    static unsigned ten = 10;
    CUstream stream, other;
    CUevent event;
    CUgraph graph;
    int state;
    uint64_t id = 0, same = 0;
    called = 0;
    CHECK(relay_cuStreamCreate(&stream, 0) == CUDA_SUCCESS &&
          relay_cuStreamCreate(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(relay_cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_ERROR_ILLEGAL_STATE);
    CHECK(relay_cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    CHECK(relay_cuStreamGetCaptureInfo(stream, &state, &id) == CUDA_SUCCESS && state == 1 && id != 0);
    CHECK(relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuStreamWaitEvent(other, event, 0) == CUDA_SUCCESS);
    CHECK(relay_cuStreamGetCaptureInfo(other, &state, &same) == CUDA_SUCCESS && state == 1 && id == same);
    CHECK(relay_cuLaunchHostFunc(other, (void *)(uintptr_t)count_call, &ten) == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(other, &graph) == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CHECK(relay_cuStreamIsCapturing(NULL, &state) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    player_settle();
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && graph);
    CHECK(relay_cuStreamIsCapturing(other, &state) == CUDA_SUCCESS && state == 0);
    CHECK(called_becomes(10)); /* the player treats captured calls like all others */

    CHECK(relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    CHECK(relay_cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(relay_cuStreamIsCapturing(stream, &state) == CUDA_SUCCESS && state == 2);
    CHECK(launch(1, 1, 0, stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && !graph);
    CHECK(relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    CHECK(launch(1, 1, 0, NULL) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* Answers a handle that no table takes, as if the table were full. */
static bool makes_too_many(const struct tessera_record *record)
{
    static const uint64_t handle = 1;
    bool makes = record->kind == TESSERA_RELAY_CALL &&
                 (record->entry == ENTRY_cuEventCreate || record->entry == ENTRY_cuStreamCreateWithPriority);
    if (makes)
        answer(record, CUDA_SUCCESS, &handle, sizeof handle);
    return makes;
}

/* What the client has no room for ends in the executor, too. */
static void too_many(void)
{
    CUevent event;
    CUstream stream;
    player_settle();
    unsigned events_ended = calls[ENTRY_cuEventDestroy_v2], streams_ended = calls[ENTRY_cuStreamDestroy_v2];
    player_serves = makes_too_many;
    CHECK(relay_cuEventCreate(&event, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(relay_cuStreamCreate(&stream, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    player_settle();
    player_serves = NULL;
    CHECK(calls[ENTRY_cuEventDestroy_v2] == events_ended + 1 && calls[ENTRY_cuStreamDestroy_v2] == streams_ended + 1);
}

int main(void)
{
    player_begin();
    load();
    launches();
    launches_without_context();
    streams();
    events();
    host_functions();
    captures();
    too_many();
    player_end();
    return 0;
}
