/* A thread that plays the executor for relay_work.c: it reads the ring as RELAY.md says, answers, and writes words. */
#ifndef TESSERA_CHECKS_RELAY_EXECUTOR_H
#define TESSERA_CHECKS_RELAY_EXECUTOR_H

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "driver/clock.h"
#include "relay/wire/layouts.h"
#include "relay/wire/relay.h"

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
        answer(record, hold_marks ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS, NULL, 0);
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

#endif
