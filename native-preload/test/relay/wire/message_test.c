/* Calls whose data the caller lays out: what arrives at the executor, what comes back, and the bounds of both. */
#include "relay/wire/message.h"

#include "relay/player.h"

#define ENTRY 7u

static unsigned char arrived[TESSERA_RELAY_RECORD_MAX] __attribute__((aligned(16)));
static uint64_t arrived_at;
static unsigned char answer_data[TESSERA_RELAY_REPLY_MAX];
static uint32_t answer_bytes;
static CUresult answer_result;

static bool keep(const struct tessera_record *record)
{
    if (record->kind != TESSERA_RELAY_CALL)
        return false;
    memcpy(arrived, record, (size_t)record->length);
    arrived_at = served_at;
    answer(record, answer_result, answer_data, answer_bytes);
    return true;
}

static const struct tessera_record *record = (const struct tessera_record *)arrived;
static const uint64_t *words = (const uint64_t *)(arrived + sizeof(struct tessera_record));

static void arguments_and_data(void)
{
    char first[8] = "unread", second[16] = "as it was";
    memcpy(answer_data, "12345\0\0\0abc", 11);
    answer_bytes = 11;
    answer_result = CUDA_ERROR_INVALID_VALUE; /* data also comes with an error */
    CHECK(MESSAGE_CALL(&context, ENTRY, VALUE(77), OUT(first, 5), IN("xyz", 3), NOTHING, OUT(second, 9),
                       INOUT(&answer_bytes, 4)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(record->entry == ENTRY && record->context == 5 && record->slot != 0 && record->flags == 0);
    CHECK(record->length == 16 + 6 * 8 + 8 + 8);
    CHECK(words[0] == 77 && words[1] == (1ULL << 63 | 5ULL << 32) && words[2] == (1ULL << 63 | 3) && words[3] == 0);
    CHECK(words[4] == (1ULL << 63 | 9ULL << 32) && words[5] == (1ULL << 63 | 4ULL << 32 | 4));
    CHECK(memcmp(&words[6], "xyz\0\0\0\0\0\13\0\0\0\0\0\0\0", 16) == 0);
    CHECK(memcmp(first, "12345d\0", 8) == 0); /* 5 bytes, no more */
    CHECK(strcmp(second, "abcit was") == 0);  /* the executor sent 3 of 9 */
    answer_result = CUDA_SUCCESS;
    answer_bytes = 0;
    CHECK(MESSAGE_CALL(&context, ENTRY, OUT(first, 5)) == CUDA_SUCCESS && memcmp(first, "12345d", 6) == 0);
    context.alive = false;
    CHECK(MESSAGE_CALL(&context, ENTRY, VALUE(1)) == CUDA_SUCCESS && record->context == 0);
    context.alive = true;
}

/* A call carries at most 64 KiB inside its record. Larger data goes ahead, in pieces and in order. */
static void large(void)
{
    static unsigned char data[300001];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + i / 251);
    unsigned pieces = seen[TESSERA_RELAY_BULK];
    CHECK(MESSAGE_CALL(&context, ENTRY, IN(data, TESSERA_RELAY_INLINE_MAX)) == CUDA_SUCCESS);
    CHECK(seen[TESSERA_RELAY_BULK] == pieces && record->flags == 0 &&
          memcmp(&words[1], data, TESSERA_RELAY_INLINE_MAX) == 0);
    bulk_bytes = 0;
    CHECK(MESSAGE_CALL(&context, ENTRY, IN(data, 13), VALUE(3), IN(data, sizeof data)) == CUDA_SUCCESS);
    CHECK(record->flags == TESSERA_RELAY_FLAG_BULK && record->length == 16 + 3 * 8 &&
          seen[TESSERA_RELAY_BULK] > pieces + 1);
    CHECK(bulk_bytes == 16 + 300008 && memcmp(bulk, data, 13) == 0 && memcmp(bulk + 13, "\0\0\0", 3) == 0);
    CHECK(memcmp(bulk + 16, data, sizeof data) == 0 && memcmp(bulk + 16 + sizeof data, "\0\0\0\0\0\0\0", 7) == 0);
    bulk_bytes = 0;
    CHECK(message_post(&context, ENTRY, &IN(data, TESSERA_RELAY_INLINE_MAX + 1), 1) == CUDA_SUCCESS);
    CHECK(record->slot != 0 &&
          bulk_bytes == TESSERA_RELAY_INLINE_MAX + 8); /* it waits: nobody else's pieces come between */
}

static void too_large(void)
{
    uint64_t before = segment->claimed;
    char byte;
    CHECK(MESSAGE_CALL(&context, ENTRY, OUT(&byte, TESSERA_RELAY_REPLY_MAX + 1)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(MESSAGE_CALL(&context, ENTRY, OUT(&byte, TESSERA_RELAY_REPLY_MAX), OUT(&byte, 1)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(MESSAGE_CALL(&context, ENTRY, IN(&byte, TESSERA_RELAY_BULK_MAX), IN(&byte, 1)) ==
          CUDA_ERROR_OUT_OF_MEMORY); /* and the user is told */
    CHECK(segment->claimed == before);
}

/* Records of all lengths, several times around the ring: the place of each is returned, without padding. */
static void places(void)
{
    static unsigned char data[20000];
    uint64_t last = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct ring_span span;
        CHECK(message_post_telling(&context, ENTRY, &IN(data, i * 977 % sizeof data), 1, &span) == CUDA_SUCCESS);
        player_settle();
        CHECK(record->slot == 0 && span.begin == arrived_at && span.begin >= last);
        CHECK(span.end - span.begin == (((uint64_t)record->length + 15) & ~15ULL) && span.end == segment->consumed);
        last = span.end;
    }
    CHECK(last > 4ULL * TESSERA_RELAY_RING_BYTES);
}

static void after_the_end(void)
{
    struct ring_span span = {1, 2};
    player_end();
    __atomic_store_n(&segment->ended, 1, __ATOMIC_RELEASE);
    CHECK(MESSAGE_CALL(&context, ENTRY, VALUE(1)) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(message_post_telling(&context, ENTRY, &VALUE(1), 1, &span) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(span.begin == 0 && span.end == 0);
}

int main(void)
{
    player_serves = keep;
    player_begin();
    arguments_and_data();
    large();
    too_large();
    places();
    after_the_end();
    return 0;
}
