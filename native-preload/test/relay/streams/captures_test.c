/*
 * Captures: which streams join, which threads may end them, what they forbid, and what is destroyed while they are
 * open.
 */
#include "relay/streams/capture_state.h"

#include "relay/player.h"
#include "relay/streams/events.h"
#include "relay/streams/stream_table.h"
#include "relay_stubs.h"

static CUstream a, b, c;
static CUevent event;
static CUgraph graph;

static void make(void)
{
    CHECK(relay_cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
          relay_cuStreamCreate(&b, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
          relay_cuStreamCreate(&c, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(relay_cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
}

static int state_of(CUstream stream)
{
    int state = -1;
    CHECK(relay_cuStreamIsCapturing(stream, &state) == CUDA_SUCCESS);
    return state;
}

static void begin_with_b(int mode)
{
    CHECK(relay_cuStreamBeginCapture_v2(a, mode) == CUDA_SUCCESS && relay_cuEventRecord(event, a) == CUDA_SUCCESS);
    CHECK(relay_cuStreamWaitEvent(b, event, 0) == CUDA_SUCCESS && state_of(b) == 1 && capture_count == 1);
}

static void joined_and_left(void)
{
    begin_with_b(2);
    CHECK(relay_cuStreamBeginCapture_v2(b, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_ERROR_ILLEGAL_STATE &&
          relay_cuStreamEndCapture(b, &graph) == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CHECK(relay_cuEventQuery(event) == CUDA_ERROR_CAPTURED_EVENT &&
          state_of(a) == 2); /* asked about: the capture is invalid */
    CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && !graph);
    CHECK(state_of(a) == 0 && state_of(b) == 0 && capture_count == 0);
    CHECK(relay_cuEventQuery(event) == CUDA_SUCCESS); /* recorded in no capture any more */
    CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_ERROR_ILLEGAL_STATE);
}

/* An event belongs to the capture of its last record. The end of a capture frees only its own streams and events. */
static void two_at_a_time(void)
{
    CHECK(relay_cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS &&
          relay_cuStreamBeginCapture_v2(c, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS && capture_count == 2);
    CHECK(relay_cuEventRecord(event, a) == CUDA_SUCCESS && relay_cuEventRecord(event, c) == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_SUCCESS && graph && state_of(c) == 1);
    CHECK(event_of(event)->capture && relay_cuStreamWaitEvent(b, event, 0) == CUDA_SUCCESS && state_of(b) == 1);
    CHECK(relay_cuStreamEndCapture(c, &graph) == CUDA_SUCCESS && state_of(b) == 0 && !event_of(event)->capture);

    begin_with_b(2);
    CHECK(relay_cuStreamBeginCapture_v2(c, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS &&
          relay_cuStreamWaitEvent(c, event, 0) == CUDA_ERROR_STREAM_CAPTURE_MERGE);
    CHECK(state_of(a) == 2 && state_of(c) == 2);
    CHECK(relay_cuStreamEndCapture(c, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED &&
          relay_cuStreamEndCapture(a, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(relay_cuEventRecord(event, c) == CUDA_SUCCESS &&
          relay_cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    CHECK(relay_cuStreamWaitEvent(a, event, 0) == CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && capture_count == 0);
}

static void *of_another_thread(void *expected)
{
    CUgraph none;
    relay_current = &context;
    CHECK(relay_cuStreamEndCapture(a, &none) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    CHECK(capture_unsafe() == (expected ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS));
    return NULL;
}

static void modes(void)
{
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; mode++) {
        pthread_t thread;
        CHECK(relay_cuStreamBeginCapture_v2(a, mode) == CUDA_SUCCESS);
        CHECK(pthread_create(&thread, NULL, of_another_thread,
                             mode == CU_STREAM_CAPTURE_MODE_GLOBAL ? &thread : NULL) == 0 &&
              pthread_join(thread, NULL) == 0);
        CHECK(state_of(a) == (mode == CU_STREAM_CAPTURE_MODE_GLOBAL ? 2 : 1));
        CHECK(capture_unsafe() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    int relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    CHECK(relay_cuThreadExchangeStreamCaptureMode(&relaxed) == CUDA_SUCCESS && relaxed == CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK(relay_cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS &&
          capture_unsafe() == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_SUCCESS);
    CHECK(relay_cuThreadExchangeStreamCaptureMode(&relaxed) == CUDA_SUCCESS && relaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
    relaxed = 3;
    CHECK(relay_cuThreadExchangeStreamCaptureMode(&relaxed) == CUDA_ERROR_INVALID_VALUE);
}

static void destroyed_while_open(void)
{
    CUevent others[3];
    begin_with_b(2);
    for (int i = 0; i < 3; i++)
        CHECK(relay_cuEventCreate(&others[i], CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
              relay_cuEventRecord(others[i], b) == CUDA_SUCCESS);
    struct capture *capture = event_of(event)->capture;
    CHECK(relay_cuEventDestroy_v2(others[1]) == CUDA_SUCCESS && relay_cuEventDestroy_v2(others[2]) == CUDA_SUCCESS);
    CHECK(capture->events == event_of(others[0]) && capture->events->captured_next == event_of(event) &&
          !event_of(event)->captured_next);
    CHECK(relay_cuStreamDestroy_v2(b) == CUDA_SUCCESS);
    CHECK(capture->streams && capture->streams->handle == (uintptr_t)a && !capture->streams->captured_next);
    CHECK(relay_cuStreamEndCapture(a, &graph) == CUDA_SUCCESS && graph && relay_cuEventQuery(others[0]) == CUDA_SUCCESS);

    CHECK(relay_cuStreamCreate(&b, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    begin_with_b(2);
    CHECK(relay_cuStreamDestroy_v2(a) == CUDA_SUCCESS); /* in which it began */
    CHECK(capture_count == 0 && state_of(b) == 0 && relay_cuEventQuery(event) == CUDA_SUCCESS);
    CHECK(relay_cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
}

static unsigned gone;
static void count_gone(const struct stream *stream)
{
    CHECK(stream->context == &context); /* its memory is still there */
    gone++;
}

static void ended_with_the_context(void)
{
    streams_on_end(count_gone);
    begin_with_b(2);
    relay_streams_context_ended(&context);
    events_context_ended(&context);
    CHECK(capture_count == 0 && gone >= 3 && !event_of(event));
    CHECK(relay_cuStreamQuery(a) == CUDA_ERROR_INVALID_HANDLE && relay_cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
}

int main(void)
{
    player_begin();
    streams_on_end(events_stream_gone);
    make();
    joined_and_left();
    two_at_a_time();
    modes();
    destroyed_while_open();
    ended_with_the_context();
    player_end();
    return 0;
}
