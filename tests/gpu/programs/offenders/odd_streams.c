/* Streams and events: destroyed while they are in use, and with odd attributes, priorities and operations. */
#include <pthread.h>

#include "odd.h"

enum { BUSY_MS = 200 };

static void stream_destroyed_while_busy(void)
{
    odd_keep_busy(the.stream, BUSY_MS);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    CALL(cuStreamQuery, the.stream);
}

static void event_destroyed_while_waited_for(void)
{
    odd_keep_busy(the.stream, BUSY_MS);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    CALL(cuEventDestroy, the.event);
    CALL(cuEventDestroy, the.event);
    CALL(cuEventQuery, the.event);
    odd_launch(the.add, the.other_stream);
}

static void *synchronize_event(void *unused)
{
    (void)unused;
    CALL(cuEventSynchronize, the.event);
    return NULL;
}

static void event_destroyed_while_a_thread_waits(void)
{
    pthread_t thread;
    odd_keep_busy(the.stream, BUSY_MS);
    CALL(cuEventRecord, the.event, the.stream);
    if (pthread_create(&thread, NULL, synchronize_event, NULL) != 0)
        return;
    CALL(cuEventDestroy, the.event);
    pthread_join(thread, NULL);
}

static void *synchronize_stream(void *unused)
{
    (void)unused;
    CALL(cuStreamSynchronize, the.stream);
    return NULL;
}

static void stream_destroyed_while_a_thread_waits(void)
{
    pthread_t thread;
    odd_keep_busy(the.stream, BUSY_MS);
    if (pthread_create(&thread, NULL, synchronize_stream, NULL) != 0)
        return;
    CALL(cuStreamDestroy, the.stream);
    pthread_join(thread, NULL);
}

static void event_never_recorded(void)
{
    float milliseconds;
    CALL(cuStreamWaitEvent, the.stream, the.event, 0);
    CALL(cuStreamWaitEvent, the.stream, the.event, ~0u);
    CALL(cuEventSynchronize, the.event);
    CALL(cuEventElapsedTime, &milliseconds, the.event, the.event);
    CALL(cuEventRecordWithFlags, the.event, the.stream, ~0u);
    CALL(cuEventRecordWithFlags, the.event, the.stream, CU_EVENT_RECORD_EXTERNAL);
    CALL(cuStreamWaitEvent, the.stream, the.event, CU_EVENT_WAIT_EXTERNAL);
}

static void events_of_odd_flags(void)
{
    CUevent event;
    for (int bit = 0; bit < 32; bit++)
        CALL(cuEventCreate, &event, 1u << bit);
    CALL(cuEventCreate, &event, CU_EVENT_INTERPROCESS);
    CALL(cuEventCreate, &event, ~0u);
}

static void streams_of_odd_flags(void)
{
    CUstream stream;
    unsigned flags;
    int priority;
    CALL(cuStreamCreate, &stream, ~0u);
    CALL(cuStreamCreateWithPriority, &stream, ~0u, 0);
    CALL(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0x7fffffff);
    CALL(cuStreamGetPriority, stream, &priority);
    CALL(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, -0x7fffffff);
    CALL(cuStreamGetFlags, stream, &flags);
    CALL(cuStreamGetFlags, NULL, &flags);
}

static void default_streams_destroyed(void)
{
    CALL(cuStreamDestroy, CU_STREAM_LEGACY);
    CALL(cuStreamDestroy, CU_STREAM_PER_THREAD);
    CALL(cuStreamDestroy, NULL);
    odd_launch(the.add, CU_STREAM_PER_THREAD);
    odd_launch(the.add, NULL);
}

static void stream_attributes_of_odd_ids(void)
{
    CUstreamAttrValue value;
    for (unsigned id = 0; id < 24; id++) {
        CALL(cuStreamGetAttribute, the.stream, id, &value);
        memset(&value, 0xff, sizeof value);
        CALL(cuStreamSetAttribute, the.stream, id, &value);
    }
    CALL(cuStreamGetAttribute, the.stream, 0x7fffffff, &value);
    CALL(cuStreamSetAttribute, the.stream, 0x7fffffff, &value);
    odd_launch(the.add, the.stream);
}

static void stream_attributes_copied(void)
{
    CALL(cuStreamCopyAttributes, the.stream, the.stream);
    CALL(cuStreamCopyAttributes, the.stream, NULL);
    CALL(cuStreamCopyAttributes, NULL, the.stream);
    CALL(cuStreamDestroy, the.other_stream);
    CALL(cuStreamCopyAttributes, the.stream, the.other_stream);
}

static void stream_window_of_odd_memory(void)
{
    CUstreamAttrValue value = {0};
    value.accessPolicyWindow.base_ptr = (void *)(uintptr_t)the.memory;
    value.accessPolicyWindow.num_bytes = ~(size_t)0;
    value.accessPolicyWindow.hitRatio = 1e30f;
    value.accessPolicyWindow.hitProp = value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
    CALL(cuStreamSetAttribute, the.stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
    CALL(cuStreamSetAttribute, the.stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
    CALL(cuMemFree, the.memory);
    odd_keep_busy(the.stream, 1);
    CALL(cuCtxResetPersistingL2Cache);
}

static void batch_operations_odd(void)
{
    static CUstreamBatchMemOpParams operations[300];
    for (unsigned kind = 0; kind < 9; kind++) {
        operations[0].operation = kind;
        CALL(cuStreamBatchMemOp, the.stream, 1, operations, 0);
    }
    CALL(cuStreamBatchMemOp, the.stream, 0, operations, 0);
    for (int at = 0; at < 300; at++) {
        operations[at].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        operations[at].writeValue.address = the.memory + 1;
    }
    CALL(cuStreamBatchMemOp, the.stream, 1, operations, 0);
    for (int at = 0; at < 300; at++)
        operations[at].writeValue.address = the.memory;
    CALL(cuStreamBatchMemOp, the.stream, 300, operations, ~0u);
    CALL(cuStreamBatchMemOp, the.stream, 256, operations, 0);
}

static void values_at_odd_addresses(void)
{
    CALL(cuStreamWriteValue32, the.stream, the.memory + 1, 1, 0);
    CALL(cuStreamWriteValue64, the.stream, the.memory + 4, 1, 0);
    CALL(cuStreamWriteValue32, the.stream, the.memory + ODD_BYTES - 2, 1, 0);
    CALL(cuStreamWriteValue32, the.stream, the.memory, 1, ~0u);
    CALL(cuStreamWaitValue32, the.stream, the.memory, 1, ~0u);
    CALL(cuStreamWaitValue64, the.stream, the.memory, 0, CU_STREAM_WAIT_VALUE_GEQ);
    CALL(cuStreamWriteValue32, the.stream, (CUdeviceptr)(uintptr_t)the.pinned, 1, 0);
}

static void calls_the_driver(void *unused)
{
    (void)unused;
    CUdeviceptr memory;
    CALL(cuMemAlloc, &memory, 4096);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuCtxSynchronize);
}

static void host_function_calls_the_driver(void)
{
    CALL(cuLaunchHostFunc, the.stream, calls_the_driver, NULL);
    CALL(cuStreamSynchronize, the.stream);
}

static void callback_of_a_stream(CUstream stream, CUresult status, void *unused)
{
    (void)unused;
    (void)status;
    CALL(cuStreamQuery, stream);
    CALL(cuStreamDestroy, stream);
}

static void callback_destroys_its_stream(void)
{
    CALL(cuStreamAddCallback, the.stream, callback_of_a_stream, NULL, 0);
    CALL(cuStreamAddCallback, the.stream, callback_of_a_stream, NULL, 0);
    CALL(cuStreamAddCallback, the.stream, callback_of_a_stream, NULL, 77);
    CALL(cuCtxSynchronize);
}

static void stream_attached_to_odd_memory(void)
{
    CUdeviceptr managed;
    CALL(cuStreamAttachMemAsync, the.stream, the.memory, 0, CU_MEM_ATTACH_SINGLE);
    CALL(cuStreamAttachMemAsync, the.stream, (CUdeviceptr)(uintptr_t)the.pinned, 4096, CU_MEM_ATTACH_SINGLE);
    if (CALL(cuMemAllocManaged, &managed, 65536, CU_MEM_ATTACH_HOST) != CUDA_SUCCESS)
        return;
    CALL(cuStreamAttachMemAsync, the.stream, managed, 4096, CU_MEM_ATTACH_SINGLE);
    CALL(cuStreamAttachMemAsync, the.stream, managed, 0, ~0u);
    CALL(cuStreamAttachMemAsync, the.stream, managed, 0, CU_MEM_ATTACH_SINGLE);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuMemFree, managed);
}

static void streams_2000(void)
{
    CUstream stream;
    odd_say("cuStreamCreate and a launch, 2000 times");
    void *parameters[] = {&the.memory};
    for (int many = 0; many < 2000; many++)
        if (QUIET(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
            QUIET(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL) != CUDA_SUCCESS)
            break;
}

const struct odd_case odd_streams[] = {
    ODD_CASE(stream_destroyed_while_busy, "a stream is destroyed twice while it is busy"),
    ODD_CASE(event_destroyed_while_waited_for, "an event is destroyed twice while a stream waits for it"),
    ODD_CASE(event_destroyed_while_a_thread_waits, "an event is destroyed while a thread waits for it"),
    ODD_CASE(stream_destroyed_while_a_thread_waits, "a stream is destroyed while a thread waits for it"),
    ODD_CASE(event_never_recorded, "an event that was never recorded is waited for; odd flags"),
    ODD_CASE(events_of_odd_flags, "events with each flag"),
    ODD_CASE(streams_of_odd_flags, "streams of odd flags and priorities"),
    ODD_CASE(default_streams_destroyed, "the default streams are destroyed"),
    ODD_CASE(stream_attributes_of_odd_ids, "attributes of a stream of every id"),
    ODD_CASE(stream_attributes_copied, "attributes are copied to the same stream and from a destroyed one"),
    ODD_CASE(stream_window_of_odd_memory, "a window of persisting accesses over memory that is freed"),
    ODD_CASE(batch_operations_odd, "odd operations on memory in a stream"),
    ODD_CASE(values_at_odd_addresses, "values are written and waited for at odd addresses"),
    ODD_CASE(host_function_calls_the_driver, "a function of a stream destroys the stream"),
    ODD_CASE(callback_destroys_its_stream, "a callback of a stream destroys the stream"),
    ODD_CASE(stream_attached_to_odd_memory, "a stream is attached to odd memory"),
    ODD_CASE(streams_2000, "2,000 streams"),
    {0},
};
