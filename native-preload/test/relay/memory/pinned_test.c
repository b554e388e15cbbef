/* Memory that both sides map, and the staging made of it. */
#include "relay/memory/pinned.h"

#include "relay/memory/range.h"
#include "relay/memory/staging.h"
#include "relay/player.h"

static void at_the_executors_address(void)
{
    struct relay_pinned memory, more;
    CHECK(relay_pin(&relay_links[0], 5000, &memory) == CUDA_SUCCESS && memory.bytes == 8192 && pinned == 1);
    memset(memory.address, 1, memory.bytes);
    CHECK(relay_pin(&relay_links[0], 1, &more) == CUDA_SUCCESS && more.address != memory.address && more.id != memory.id);
    CHECK(relay_unpin(&relay_links[0], &memory) == CUDA_SUCCESS && unpinned == 1);
    unsigned char present;
    CHECK(mincore(memory.address, memory.bytes, &present) != 0); /* it is unmapped */
    CHECK(relay_unpin(&relay_links[0], &more) == CUDA_SUCCESS);
}

/*
 * The program has a mapping where the executor would put the memory. The mapping stays; the executor gets its memory back
 * and is asked for another place.
 */
static void where_the_program_has_something(void)
{
    struct relay_pinned first, memory;
    CHECK(relay_pin(&relay_links[0], 4096, &first) == CUDA_SUCCESS);
    unsigned asked = pinned, given_back = unpinned;
    char *taken = mmap((char *)first.address + 4096, 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(taken == (char *)first.address + 4096);
    strcpy(taken, "the program's");
    CHECK(relay_pin(&relay_links[0], 4096, &memory) == CUDA_SUCCESS);
    CHECK(pinned == asked + 2 && unpinned == given_back + 1 && strcmp(taken, "the program's") == 0);
    CHECK((uintptr_t)memory.address >= (uintptr_t)taken + (1ULL << 30));
    munmap(taken, 4096);
    relay_unpin(&relay_links[0], &first);
    relay_unpin(&relay_links[0], &memory);
}

static bool elsewhere(const struct tessera_record *record)
{
    static const uint64_t another = 0x4000;
    if (record->kind != TESSERA_RELAY_QUERY || record->entry != TESSERA_QUERY_PINNED)
        return false;
    answer(record, CUDA_SUCCESS, &another, 8);
    return true;
}

/* A device that has it at another address than the host is not supported, and the memory is given back. */
static void without_one_address(void)
{
    struct relay_pinned memory;
    unsigned given_back = unpinned;
    player_serves = elsewhere;
    CHECK(relay_pin(&relay_links[0], 4096, &memory) == CUDA_ERROR_NOT_SUPPORTED && unpinned == given_back + 1);
    player_settle();
    player_serves = NULL;
}

static void ends_with_its_context(void)
{
    struct relay_pinned memory;
    CHECK(relay_pin(&relay_links[0], 4096, &memory) == CUDA_SUCCESS);
    struct relay_range range = {.start = (uintptr_t)memory.address,
                                .bytes = memory.bytes,
                                .kind = RELAY_RANGE_PINNED,
                                .link = &relay_links[0],
                                .context = &context,
                                .id = memory.id},
                       small = range;
    small.start -= 0x10000;
    small.id = RELAY_PINNED_SMALL; /* a part of a chunk, which the chunk's owner gives back */
    unsigned given_back = unpinned;
    CHECK(relay_range_add(&range) && relay_range_add(&small));
    relay_range_context_ended(&context);
    CHECK(unpinned == given_back + 1 && !relay_range_find(range.start, &range) && !relay_range_find(small.start, &small));
}

static void *give_later(void *chunk)
{
    usleep(50000);
    staging_give(chunk);
    return NULL;
}

/* Not enough words are left for the chunks: nothing of them stays, and a later try finds everything. */
static void staging_without_words(void)
{
    static int words[TESSERA_RELAY_WORDS];
    struct staging_chunk *chunk;
    struct relay_range range;
    unsigned count = 0, given_back = unpinned;
    while ((words[count] = relay_word_take(&relay_links[0], STAGING_CHUNKS - 1)) >= 0)
        count++;
    CHECK(staging_take(&relay_links[0], &chunk) == CUDA_ERROR_OUT_OF_MEMORY && unpinned == given_back + 1);
    CHECK(!relay_range_find(pinned_address[pinned % 64], &range));
    for (unsigned i = 1; i < STAGING_CHUNKS; i++)
        CHECK((words[count++] = relay_word_take(&relay_links[0], 0)) >= 0);
    while (count > 0)
        relay_word_give(&relay_links[0], words[--count]);
}

static void staging(void)
{
    struct staging_chunk *chunks[STAGING_CHUNKS], *again;
    struct relay_range range;
    pthread_t thread;
    unsigned asked = pinned;
    for (unsigned i = 0; i < STAGING_CHUNKS; i++) {
        CHECK(staging_take(&relay_links[0], &chunks[i]) == CUDA_SUCCESS);
        memset(chunks[i]->memory, (int)i, STAGING_CHUNK);
        CHECK(relay_range_find((uintptr_t)chunks[i]->memory + STAGING_CHUNK - 1, &range) &&
              range.kind == RELAY_RANGE_PINNED);
    }
    for (unsigned i = 0; i < STAGING_CHUNKS; i++)
        CHECK(chunks[i]->memory[0] == i && chunks[i]->memory[STAGING_CHUNK - 1] == i); /* no two overlap */
    CHECK(pinned == asked + 1 && !staging_try(&relay_links[0]));
    CHECK(pthread_create(&thread, NULL, give_later, chunks[3]) == 0);
    CHECK(staging_take(&relay_links[0], &again) == CUDA_SUCCESS && again == chunks[3]); /* waits for one */
    pthread_join(thread, NULL);

    __atomic_store_n(&hold_marks, true,
                     __ATOMIC_RELEASE); /* a chunk that the device still reads is not handed out, though it was given back */
    CHECK(staging_mark(&context, 0, chunks[3]) == CUDA_SUCCESS);
    player_settle();
    staging_give(chunks[3]);
    CHECK(!staging_try(&relay_links[0]) && __atomic_load_n(&held_count, __ATOMIC_ACQUIRE) == 1);
    __atomic_store_n(&hold_marks, false, __ATOMIC_RELEASE);
    write_word(&held[0], TESSERA_RELAY_MARK);
    CHECK(staging_wait(&relay_links[0], chunks[3]) == CUDA_SUCCESS && staging_try(&relay_links[0]) == chunks[3]);
    CHECK(staging_awaited_mark(&context, 0, chunks[3]) == CUDA_SUCCESS &&
          staging_wait(&relay_links[0], chunks[3]) == CUDA_SUCCESS);
}

/* All chunks are taken and none is given back: even so, a thread does not wait for ever. */
static void after_the_end(void)
{
    struct staging_chunk *chunk;
    struct relay_pinned memory;
    player_end();
    segment->context_error = 719;
    CHECK(staging_take(&relay_links[0], &chunk) == 719);
    segment->context_error = 0;
    __atomic_store_n(&segment->ended, 1, __ATOMIC_RELEASE);
    CHECK(staging_take(&relay_links[0], &chunk) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    close(player_socket);
    CHECK(relay_pin(&relay_links[0], 4096, &memory) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

int main(void)
{
    player_begin();
    at_the_executors_address();
    where_the_program_has_something();
    without_one_address();
    ends_with_its_context();
    staging_without_words();
    staging();
    after_the_end();
    return 0;
}
