/*
 * A thread that plays the executor of one device: it reads the ring as RELAY.md says, answers, and writes words. On its socket it hands out
 * memory that is mapped in this process alone. What it saw is read by the test after player_settle().
 */
#ifndef TESSERA_TEST_PLAYER_H
#define TESSERA_TEST_PLAYER_H

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"
#include "relay/wire/layouts.h"
#include "relay/wire/relay.h"
#include "relay/wire/init_state.h"
#include "session/connection.h"

#define HANDLE(type, index) (TESSERA_HANDLE_TAG | (uint64_t)(type) << 40 | (uint64_t)(index) << 4)

static struct tessera_relay_segment *segment;
static struct relay_context context; /* number 5, the current one of the thread that began */
static bool stopping;
static uint64_t player_made = 100;
static pthread_t player;
static int player_socket; /* the executor's end */

/* What the executor saw. */
static unsigned seen[9]; /* records, by kind */
static unsigned calls[TESSERA_ENTRY_COUNT];
static unsigned char launch_record[4096];
static unsigned char last_call[TESSERA_ENTRY_COUNT][512]; /* after the header */
static uint64_t bulk_bytes;
static bool hold_marks; /* streams do not advance */
static struct tessera_mark held[64];
static unsigned held_count;
static unsigned pinned, unpinned;
static uint64_t served_at;          /* ring position of the record that is served */
static unsigned char bulk[1 << 20]; /* what came in BULK records, as far as there is room */
/* Serves a record instead of serve(). False: serve() does it. */
static bool (*player_serves)(const struct tessera_record *record);

static void answer(const struct tessera_record *record, CUresult result, const void *out, uint32_t bytes)
{
    if (record->slot == 0)
        return;
    struct tessera_reply *reply = (struct tessera_reply *)segment->reply[record->slot - 1];
    if (bytes)
        memcpy(reply + 1, out, bytes);
    reply->result = result;
    reply->bytes = bytes;
    __atomic_store_n(&reply->sequence, reply->expected, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&reply->waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &reply->sequence, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* f(u64 pointer, u32 number, 3 bytes): offsets 0, 8, 12. */
static void tell_function(const struct tessera_record *record)
{
    static struct tessera_function_info info;
    info = (struct tessera_function_info){.valid = 1u << 0 | 1u << 8,
                                          .parameter_bytes = 15,
                                          .parameters = 3,
                                          .function = HANDLE(TESSERA_HANDLE_FUNCTION, 7)};
    info.attributes[0] = 512;
    info.attributes[8] = 1000;
    info.parameter[0] = (struct tessera_parameter){0, 8};
    info.parameter[1] = (struct tessera_parameter){8, 4};
    info.parameter[2] = (struct tessera_parameter){12, 3};
    answer(record, CUDA_SUCCESS, &info, sizeof info);
}

static uint64_t pinned_address[64];

static void serve_query(const struct tessera_record *record)
{
    uint64_t value = *(const uint64_t *)(record + 1);
    if (record->entry == TESSERA_QUERY_PINNED)
        answer(record, CUDA_SUCCESS, &pinned_address[value % 64], 8);
    else if (record->entry == TESSERA_QUERY_UNPIN)
        answer(record, (unpinned++, CUDA_SUCCESS), NULL, 0);
    else
        tell_function(record);
}

static uint64_t fresh(unsigned type)
{
    return HANDLE(type, player_made++);
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
    case ENTRY_cuLibraryLoadData:
        handle[0] = fresh(TESSERA_HANDLE_LIBRARY);
        break;
    case ENTRY_cuLibraryGetKernel:
        handle[0] = fresh(TESSERA_HANDLE_KERNEL);
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

/* A stream that calls the host goes on when the word is 0 again. */
static void write_word(const struct tessera_mark *mark, unsigned kind)
{
    uint64_t *word = &segment->word[mark->word];
    bool calls_host = kind == TESSERA_RELAY_HOST_CALL;
    __atomic_store_n(word, calls_host ? 1 : mark->value, __ATOMIC_RELEASE);
    while (calls_host && __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
}

static void take_bulk(const struct tessera_bulk *piece)
{
    CHECK(piece->offset == bulk_bytes);
    if (bulk_bytes + piece->bytes <= sizeof bulk)
        memcpy(bulk + bulk_bytes, piece + 1, piece->bytes);
    bulk_bytes += piece->bytes;
}

static void serve(const struct tessera_record *record)
{
    const struct tessera_mark *mark = (const struct tessera_mark *)(record + 1);
    seen[record->kind]++;
    if (player_serves && player_serves(record))
        return;
    switch (record->kind) {
    case TESSERA_RELAY_CALL:
        serve_call(record);
        break;
    case TESSERA_RELAY_BULK:
        take_bulk((const struct tessera_bulk *)(record + 1));
        break;
    case TESSERA_RELAY_LAUNCH:
        memcpy(launch_record, record, (size_t)record->length);
        break;
    case TESSERA_RELAY_QUERY:
        serve_query(record);
        break;
    case TESSERA_RELAY_CONTEXT:
        answer(record, CUDA_SUCCESS, NULL, 0);
        break;
    case TESSERA_RELAY_MARK:
    case TESSERA_RELAY_WATCH_EVENT:
    case TESSERA_RELAY_HOST_CALL:
        if (__atomic_load_n(&hold_marks, __ATOMIC_ACQUIRE)) {
            held[held_count] = *mark;
            __atomic_store_n(&held_count, held_count + 1, __ATOMIC_RELEASE);
        } else
            write_word(mark, record->kind);
        answer(record, __atomic_load_n(&hold_marks, __ATOMIC_ACQUIRE) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS, NULL, 0);
        break;
    }
}

/* Hands out memory at an address that is free wherever the test runs; the client maps it. */
static void serve_socket(void)
{
    static uint64_t next = 0x7e9000000000ULL; /* free in every process: sanitizers, too, keep their shadow elsewhere */
    _Alignas(8) char buffer[4096];
    int descriptor = -1;
    if (connection_receive_with(player_socket, buffer, &descriptor, 0) <= 0)
        return;
    const struct tessera_pin *pin = (const struct tessera_pin *)(const void *)buffer;
    CHECK(pin->head.type == TESSERA_MSG_PIN && descriptor == -1);
    int file = memfd_create("pinned", MFD_CLOEXEC);
    struct tessera_pinned memory = {.id = ++pinned, .bytes = (pin->bytes + 4095) & ~4095ULL};
    next = pin->not_below > next ? pin->not_below : next;
    memory.address = next;
    next += memory.bytes;
    CHECK(file >= 0 && ftruncate(file, (off_t)memory.bytes) == 0);
    CHECK(connection_send_with(player_socket, &memory.head, TESSERA_MSG_PINNED, sizeof memory, 0, file) == 0);
    pinned_address[pinned % 64] = memory.address;
    close(file);
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
            serve_socket();
            sched_yield();
            continue;
        }
        uint64_t room = ((uint64_t)length + 15) & ~15ULL;
        memcpy(copy, record, (size_t)length);
        memset(record, 0, room);
        served_at = segment->consumed;
        if (((struct tessera_record *)copy)->kind != TESSERA_RELAY_PADDING)
            serve((struct tessera_record *)copy);
        __atomic_store_n(&segment->consumed, segment->consumed + room, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* As after cuInit: link 0 to the player, and a context on it that is current. */
static void player_begin(void)
{
    int ends[2];
    alarm(HANGS_S);
    segment = mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(segment != MAP_FAILED && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    player_socket = ends[1];
    segment->device.attributes[1] = segment->device.attributes[2] = 1024;
    segment->device.attribute_valid[1] = segment->device.attribute_valid[2] = 1;
    segment->executor_heartbeat_ns = monotonic_ns();
    relay_links[0] = (struct relay_link){.segment = segment, .socket = ends[0]};
    relay_link_count = 1;
    context = (struct relay_context){.link = &relay_links[0], .number = 5, .alive = true};
    relay_current = &context;
    init_state_begin();
    CHECK(pthread_create(&player, NULL, execute, NULL) == 0);
}

/* Waits until everything sent so far has been served. */
static inline void player_settle(void)
{
    while (__atomic_load_n(&segment->consumed, __ATOMIC_ACQUIRE) != __atomic_load_n(&segment->claimed, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void player_end(void)
{
    player_settle();
    __atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
    pthread_join(player, NULL);
}

#endif
