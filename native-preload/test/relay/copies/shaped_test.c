/* Copies in two and three dimensions: random shapes between all kinds of memory, against the plain loop over rows. */
#include "relay/copies/copy_shaped.h"

#include <stdio.h>

#include "relay/copies/copy_captured.h"
#include "relay/memory/range.h"
#include "relay/memory/staging.h"
#include "relay/player.h"
#include "relay/streams/streams.h"
#include "relay_stubs.h"

#define ROOM (12u << 20)
#define NARROW_ROOM (1u << 20)
#define ROUNDS 400

static uint64_t random_state;
static unsigned char *device, *host, *host_target, *wanted;

static uint64_t next(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static uint64_t row_of(const struct layout_copy_side *side, const struct layout_copy *copy, uint64_t y, uint64_t z)
{
    uint64_t pitch = side->pitch ? side->pitch : side->x_bytes + copy->width_bytes;
    uint64_t height = side->height ? side->height : side->y + copy->height;
    return ((side->z + z) * height + side->y + y) * pitch + side->x_bytes;
}

static bool execute_copy(const struct tessera_record *record)
{
    struct layout_copy copy;
    const uint64_t *words = (const uint64_t *)(record + 1);
    if (record->kind == TESSERA_RELAY_CALL && record->entry == ENTRY_cuMemcpyAsync) {
        memcpy((void *)(uintptr_t)words[0], (const void *)(uintptr_t)words[1], words[2]);
        answer(record, CUDA_SUCCESS, NULL, 0);
        return true;
    }
    if (record->kind != TESSERA_RELAY_CALL || record->entry != ENTRY_cuMemcpy3DAsync_v2)
        return false;
    memcpy(&copy, words + 2, sizeof copy);
    CHECK(copy.source.memory_type == CU_MEMORYTYPE_DEVICE && copy.destination.memory_type == CU_MEMORYTYPE_DEVICE);
    for (uint64_t z = 0; z < copy.depth; z++)
        for (uint64_t y = 0; y < copy.height; y++)
            memcpy((void *)(uintptr_t)(copy.destination.device + row_of(&copy.destination, &copy, y, z)),
                   (const void *)(uintptr_t)(copy.source.device + row_of(&copy.source, &copy, y, z)), copy.width_bytes);
    answer(record, CUDA_SUCCESS, NULL, 0);
    return true;
}

/* Half of the pitches and heights are left to their defaults. */
static struct layout_copy_side side_of(const struct layout_copy *copy, unsigned char *at, uint32_t type)
{
    struct layout_copy_side side = {
        .x_bytes = next(40), .y = next(3), .z = copy->width_bytes < 4000 ? next(2) : 0, .memory_type = type};
    if (type == CU_MEMORYTYPE_HOST)
        side.host = (uintptr_t)at;
    else
        side.device = (uintptr_t)at;
    if (next(2))
        side.pitch = side.x_bytes + copy->width_bytes + next(100);
    if (next(2))
        side.height = side.y + copy->height + next(4);
    return side;
}

static void one(bool wide, bool capturing, CUstream stream)
{
    struct layout_copy copy = {.width_bytes = wide ? STAGING_CHUNK - 2000 + next(900000) : 1 + next(3000),
                               .height = 1 + next(wide ? 2 : 40),
                               .depth = 1 + next(wide ? 1 : 5)};
    uint32_t host_type = next(2) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED,
             device_type = next(2) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
    unsigned from_host = (unsigned)next(2), to_host = (unsigned)next(2);
    copy.source = side_of(&copy, from_host ? host : device, from_host ? host_type : device_type);
    copy.destination = side_of(&copy, to_host ? host_target : device + ROOM, to_host ? host_type : device_type);
    const unsigned char *from = from_host ? host : device;
    unsigned char *to = to_host ? host_target : device + ROOM;
    size_t room = wide ? ROOM : NARROW_ROOM;
    memset(to, 0x11, room);
    memset(wanted, 0x11, room);
    for (uint64_t z = 0; z < copy.depth; z++)
        for (uint64_t y = 0; y < copy.height; y++)
            memcpy(wanted + row_of(&copy.destination, &copy, y, z), from + row_of(&copy.source, &copy, y, z),
                   copy.width_bytes);
    enum copy_end end = !capturing && next(2) ? COPY_WAITS : COPY_RETURNS_EARLY;
    CHECK(copy_shaped(&context, (uintptr_t)stream, &copy, end) == CUDA_SUCCESS);
    if (to_host && !capturing && end == COPY_WAITS)
        CHECK(memcmp(to, wanted, room) == 0); /* the call has written it */
    player_settle();
    CHECK(memcmp(to, wanted, room) == 0);
}

static void random_shapes(void)
{
    CUstream stream;
    CUgraph graph;
    for (int i = 0; i < ROUNDS; i++)
        one(i % 20 == 0, false, NULL);
    CHECK(relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
          relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    for (int i = 0; i < ROUNDS / 4; i++)
        one(i % 20 == 0, true, stream);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
}

static void refused(void)
{
    struct layout_copy good = {.source = {.memory_type = CU_MEMORYTYPE_DEVICE, .device = (uintptr_t)device, .pitch = 100},
                               .destination = {.memory_type = CU_MEMORYTYPE_DEVICE,
                                               .device = (uintptr_t)device + ROOM,
                                               .pitch = 100},
                               .width_bytes = 100,
                               .height = 2,
                               .depth = 1},
                       copy = good;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_SUCCESS);
    copy.source.pitch = 99; /* rows would overlap */
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_INVALID_VALUE);
    copy = good;
    copy.source.x_bytes = 1;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_INVALID_VALUE);
    copy = good;
    copy.destination.memory_type = 0;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_INVALID_VALUE);
    copy.destination.memory_type = 5;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_INVALID_VALUE);
    copy = good;
    copy.destination.device = 0;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_INVALID_VALUE);
    copy = good;
    copy.destination.memory_type = CU_MEMORYTYPE_ARRAY;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_INVALID_VALUE);
    copy = good;
    copy.height = 0;
    uint64_t before = segment->claimed;
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_SUCCESS && segment->claimed == before);
}

static void elsewhere(void)
{
    static struct relay_context other;
    const struct relay_range theirs = {
        .start = 0x40000000, .bytes = 0x10000, .kind = RELAY_RANGE_DEVICE, .link = &relay_links[1], .context = &other};
    struct layout_copy copy = {.source = {.memory_type = CU_MEMORYTYPE_DEVICE, .device = 0x40000000},
                               .destination = {.memory_type = CU_MEMORYTYPE_DEVICE, .device = (uintptr_t)device},
                               .width_bytes = 4,
                               .height = 1,
                               .depth = 1};
    other.link = &relay_links[1];
    CHECK(relay_range_add(&theirs) && !copy_leads_elsewhere(&context, &copy)); /* there is one device */
    __atomic_store_n(&relay_link_count, 2, __ATOMIC_RELAXED);
    CHECK(copy_leads_elsewhere(&context, &copy) && !copy_leads_elsewhere(&other, &(struct layout_copy){0}));
    copy.destination = (struct layout_copy_side){.memory_type = CU_MEMORYTYPE_ARRAY, .array = 77};
    CHECK(copy_shaped(&context, 0, &copy, COPY_WAITS) == CUDA_ERROR_NOT_SUPPORTED);
    __atomic_store_n(&relay_link_count, 1, __ATOMIC_RELAXED);
}

int main(void)
{
    const char *given = getenv("TESSERA_SEED");
    random_state = given ? strtoull(given, NULL, 10) : monotonic_ns() | 1;
    printf("shaped: seed %llu\n", (unsigned long long)random_state);
    player_serves = execute_copy;
    player_begin();
    device = malloc(2 * ROOM);
    host = malloc(ROOM);
    host_target = malloc(ROOM);
    wanted = malloc(ROOM);
    CHECK(device && host && host_target && wanted);
    for (unsigned i = 0; i < ROOM; i++) {
        device[i] = (unsigned char)(i * 7 + i / 253);
        host[i] = (unsigned char)(i * 11 + i / 257);
    }
    const struct relay_range range = {
        .start = (uintptr_t)device, .bytes = 2 * ROOM, .kind = RELAY_RANGE_DEVICE, .link = &relay_links[0]};
    CHECK(relay_range_add(&range));
    random_shapes();
    refused();
    elsewhere();
    player_end();
    return 0;
}
