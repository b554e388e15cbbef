/*
 * Copies in one dimension, against a thread that plays the executor and copies bytes: every length around the bounds of records and
 * staging, every kind of memory on both sides, sources that change after the call, errors, captures.
 */
#include "relay/copies/copy.h"

#include "relay/memory/pinned.h"
#include "relay/memory/range.h"
#include "relay/memory/staging.h"
#include "relay/player.h"
#include "relay/streams/streams.h"
#include "relay_stubs.h"

#define ROOM ((40u << 20) + 4096)
#define GUARD 64u

static unsigned char *memory[2][3]; /* to and from; device, pinned, pageable */
enum { DEVICE, PINNED, PAGEABLE };
static CUresult refusal;
static unsigned inline_copies, staged_copies;

static bool execute_copy(const struct tessera_record *record)
{
    const uint64_t *words = (const uint64_t *)(record + 1);
    if (record->kind != TESSERA_RELAY_CALL ||
        (record->entry != ENTRY_cuMemcpyAsync && record->entry != ENTRY_cuMemcpyHtoDAsync_v2))
        return false;
    if (refusal == CUDA_SUCCESS && record->entry == ENTRY_cuMemcpyAsync)
        memcpy((void *)(uintptr_t)words[0], (const void *)(uintptr_t)words[1], words[2]);
    else if (refusal == CUDA_SUCCESS)
        memcpy((void *)(uintptr_t)words[0], &words[4], words[2]);
    *(record->entry == ENTRY_cuMemcpyAsync ? &staged_copies : &inline_copies) += 1;
    answer(record, refusal, NULL, 0);
    return true;
}

static void prepare(void)
{
    for (int side = 0; side < 2; side++) {
        struct relay_pinned both;
        memory[side][DEVICE] = malloc(ROOM);
        memory[side][PAGEABLE] = malloc(ROOM);
        CHECK(memory[side][DEVICE] && memory[side][PAGEABLE] && relay_pin(&relay_links[0], ROOM, &both) == CUDA_SUCCESS);
        memory[side][PINNED] = both.address;
        const struct relay_range device = {.start = (uintptr_t)memory[side][DEVICE],
                                           .bytes = ROOM,
                                           .kind = RELAY_RANGE_DEVICE,
                                           .link = &relay_links[0]},
                                 pages = {.start = (uintptr_t)both.address,
                                          .bytes = both.bytes,
                                          .kind = RELAY_RANGE_PINNED,
                                          .link = &relay_links[0],
                                          .id = both.id};
        CHECK(relay_range_add(&device) && relay_range_add(&pages));
    }
}

static void fill(unsigned char *at, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(i * 131 + i / 255 + seed);
}

static void check_filled(const unsigned char *at, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(at[i] == (unsigned char)(i * 131 + i / 255 + seed));
}

static void copy(int to_kind, int from_kind, size_t bytes, enum copy_end end)
{
    static unsigned seed;
    unsigned char *to = memory[0][to_kind] + GUARD + 3, *from = memory[1][from_kind] + 5;
    fill(from, bytes, ++seed);
    memset(to - GUARD, 0xaa, GUARD);
    memset(to + bytes, 0xbb, GUARD);
    CHECK(copy_linear(&context, 0, copy_host(&context, to, bytes), copy_host(&context, from, bytes), bytes, end) ==
          CUDA_SUCCESS);
    if (from_kind == PAGEABLE) /* the call has read it */
        memset(from, 0xcc, bytes);
    if (to_kind == PAGEABLE || (end == COPY_WAITS && to_kind == PINNED))
        check_filled(to, bytes, seed); /* the call has written it */
    CHECK(relay_stream_wait(&context, 0) == CUDA_SUCCESS);
    check_filled(to, bytes, seed);
    for (unsigned i = 0; i < GUARD; i++)
        CHECK(to[-1 - (int)i] == 0xaa && to[bytes + i] == 0xbb);
}

static void every_length(void)
{
    static const size_t lengths[] = {0,
                                     1,
                                     255,
                                     4096,
                                     TESSERA_RELAY_INLINE_MAX,
                                     TESSERA_RELAY_INLINE_MAX + 1,
                                     STAGING_PIECE,
                                     STAGING_PIECE + 1,
                                     STAGING_CHUNK - 1,
                                     STAGING_CHUNK,
                                     STAGING_CHUNK + 1,
                                     3 * STAGING_CHUNK + 77,
                                     9u << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int to = DEVICE; to <= PAGEABLE; to++)
            for (int from = DEVICE; from <= PAGEABLE; from++)
                for (int end = COPY_RETURNS_EARLY; end <= COPY_WAITS; end++)
                    copy(to, from, lengths[i], (enum copy_end)end);
    copy(PAGEABLE, DEVICE, 40u << 20, COPY_WAITS); /* by two threads, where there are cores for them */
    copy(DEVICE, PAGEABLE, 40u << 20, COPY_WAITS);
    CHECK(relay_cuMemcpyDtoH_v2(NULL, (uintptr_t)memory[0][DEVICE], 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemcpyHtoD_v2((uintptr_t)memory[0][DEVICE], NULL, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemcpyHtoD_v2((uintptr_t)memory[0][DEVICE], NULL, 0) == CUDA_SUCCESS);
}

/* Small sources travel inside the record if the target is device memory. */
static void small_copies_travel_inline(void)
{
    unsigned before = inline_copies, staged = staged_copies;
    copy(DEVICE, PAGEABLE, TESSERA_RELAY_INLINE_MAX, COPY_RETURNS_EARLY);
    CHECK(inline_copies == before + 1 && staged_copies == staged);
    copy(DEVICE, PAGEABLE, TESSERA_RELAY_INLINE_MAX + 1, COPY_RETURNS_EARLY);
    CHECK(inline_copies == before + 1 && staged_copies > staged);
}

static void what_is_known(void)
{
    unsigned char *device = memory[0][DEVICE];
    CHECK(copy_known(&relay_links[0], (uintptr_t)device, ROOM) &&
          !copy_known(&relay_links[0], (uintptr_t)device, ROOM + 1));
    CHECK(copy_known(&relay_links[0], 0, 0) && !copy_known(&relay_links[1], (uintptr_t)device, 1));
    const struct relay_range first = {
        .start = 0x10000, .bytes = 0x1000, .kind = RELAY_RANGE_MAPPED, .link = &relay_links[0]};
    const struct relay_range behind = {
        .start = 0x11000, .bytes = 0x1000, .kind = RELAY_RANGE_MAPPED, .link = &relay_links[0]};
    const struct relay_range registered = {
        .start = 0x12000, .bytes = 0x1000, .kind = RELAY_RANGE_REGISTERED, .link = &relay_links[0]};
    CHECK(relay_range_add(&first) && relay_range_add(&behind) && relay_range_add(&registered));
    CHECK(copy_known(&relay_links[0], 0x10800, 0x1800)); /* mappings lie side by side */
    CHECK(!copy_known(&relay_links[0], 0x10800, 0x1801) && !copy_known(&relay_links[0], 0x10800, ~(size_t)0) &&
          copy_host(&context, (void *)0x12000, 16).kind == COPY_PAGEABLE);
}

/* The executor refuses. A copy with an unknown address waits for that answer; all other errors come with a later call. */
static void errors(void)
{
    unsigned char byte[2] = {0};
    const struct copy_place unknown = copy_device(0x1000), known = copy_device((uintptr_t)memory[0][DEVICE]);
    refusal = CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK(copy_linear(&context, 0, unknown, known, 16, COPY_WAITS) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(copy_linear(&context, 0, known, unknown, 16, COPY_RETURNS_EARLY) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(copy_linear(&context, 0, copy_host(&context, byte, 2), unknown, 2, COPY_WAITS) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(copy_linear(&context, 0, unknown, known, 0, COPY_WAITS) == CUDA_SUCCESS);
    /* A size beyond the device's memory is an error before the program's memory is read or written. */
    CHECK(relay_cuMemcpyHtoD_v2(known.at, byte, (size_t)1 << 62) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemcpyDtoH_v2(byte, known.at, (size_t)1 << 40) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemcpyDtoH_v2(memory[0][PINNED] + 1, known.at, ROOM) == CUDA_ERROR_INVALID_VALUE);
    refusal = CUDA_SUCCESS;
    segment->call_error = CUDA_ERROR_LAUNCH_FAILED; /* of earlier work: a copy into the program's memory may report it */
    CHECK(copy_linear(&context, 0, copy_host(&context, byte, 2), known, 2, COPY_WAITS) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(copy_linear(&context, 0, copy_host(&context, byte, 2), known, 2, COPY_WAITS) == CUDA_SUCCESS);
}

/* In a capture the program's memory is read by a host function before the copy, and written by one behind it. */
static void captured(void)
{
    unsigned char *from = memory[1][PAGEABLE], *device = memory[0][DEVICE], *to = memory[0][PAGEABLE];
    CUstream stream;
    CUgraph graph;
    CHECK(relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
          relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    uint64_t wire = (uintptr_t)stream;
    fill(from, 300000, 3);
    CHECK(copy_linear(&context, wire, copy_device((uintptr_t)device), copy_host(&context, from, 10), 10, COPY_WAITS) ==
          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(copy_linear(&context, wire, copy_device((uintptr_t)device), copy_host(&context, from, 300000), 300000,
                      COPY_RETURNS_EARLY) == CUDA_SUCCESS);
    CHECK(copy_linear(&context, wire, copy_host(&context, to, 300000), copy_device((uintptr_t)device), 300000,
                      COPY_RETURNS_EARLY) == CUDA_SUCCESS);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    player_settle();
    check_filled(device, 300000, 3); /* the player runs captured work at once */
    check_filled(to, 300000, 3);
    CHECK(relay_cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
}

/* No copy waits for an executor that is gone. */
static void after_the_end(void)
{
    player_end();
    __atomic_store_n(&segment->ended, 1, __ATOMIC_RELEASE);
    static const size_t lengths[] = {16, 200000, 5u << 20};
    for (int i = 0; i < 3; i++)
        for (int to = DEVICE; to <= PAGEABLE; to++) {
            struct copy_place target = copy_host(&context, memory[0][to], lengths[i]),
                              source = copy_host(&context, memory[1][2 - to], lengths[i]);
            CHECK(copy_linear(&context, 0, target, source, lengths[i], COPY_WAITS) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
        }
}

int main(void)
{
    player_serves = execute_copy;
    player_begin();
    prepare();
    every_length();
    small_copies_travel_inline();
    what_is_known();
    errors();
    captured();
    after_the_end();
    return 0;
}
