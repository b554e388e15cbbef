/* Functions of the program that are called through words, and the reuse of words. */
#include "relay/wire/callbacks.h"

#include "relay/player.h"
#include "relay/wire/completion.h"

static unsigned called, inside, released;

static void run(void *data)
{
    __atomic_fetch_add(&inside, callback_inside, __ATOMIC_RELAXED);
    __atomic_fetch_add(&called, *(unsigned *)data, __ATOMIC_SEQ_CST);
}

static void run_for_stream(CUstream stream, CUresult status, void *data)
{
    CHECK(stream == (CUstream)0x77 && status == CUDA_SUCCESS);
    run(data);
}

static void release(void *data)
{
    released += *(unsigned *)data;
}

/* As the device does: 1, and then it waits for 0. */
static void call(int word)
{
    __atomic_store_n(&segment->word[word], 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 5000 && __atomic_load_n(&segment->word[word], __ATOMIC_ACQUIRE) != 0; i++)
        usleep(1000);
    CHECK(segment->word[word] == 0);
}

static void once(void)
{
    static unsigned one = 1, hundred = 100;
    struct callback behind;
    int word = callback_prepare(&context, &(struct callback){.function = run, .data = &one}, false);
    CHECK(word >= 0 && segment->word[word] == 0 && !callback_inside);
    CHECK(callback_of(&relay_links[0], word, &behind) && behind.function == run && behind.data == &one);
    call(word);
    CHECK(called == 1 && inside == 1);
    for (int i = 0; i < 1000 && callback_of(&relay_links[0], word, &behind); i++)
        usleep(1000);
    CHECK(!callback_of(&relay_links[0], word, &behind) && !callback_change(&relay_links[0], word, &behind));
    CHECK(!callback_of(&relay_links[0], -1, &behind) && !callback_of(&relay_links[0], TESSERA_RELAY_WORDS, &behind));
    word = callback_prepare(
        &context, &(struct callback){.stream_function = run_for_stream, .stream = (CUstream)0x77, .data = &hundred},
        false);
    call(word);
    CHECK(called == 101 && inside == 2);
}

static void again(void)
{
    static unsigned one = 1, ten = 10;
    const struct callback first = {.function = run, .data = &one, .released = release},
                          other = {.function = run, .data = &ten, .released = release};
    called = 0;
    int word = callback_prepare(&context, &first, true);
    call(word);
    call(word);
    CHECK(callback_change(&relay_links[0], word, &other) && released == 0);
    call(word);
    CHECK(called == 12);
    callback_release(&relay_links[0], word);
    callback_release(&relay_links[0], word); /* is no callback any more */
    CHECK(released == 10);
    __atomic_store_n(&segment->word[word], 1, __ATOMIC_RELEASE);
    usleep(50000);
    CHECK(called == 12);
    __atomic_store_n(&segment->word[word], 0, __ATOMIC_RELEASE);
}

/* Callbacks may have half of the words at a time. A word of a callback is reused by another callback, not by a mark. */
static void as_many_as_there_are(void)
{
    static int words[TESSERA_RELAY_WORDS];
    static unsigned one = 1;
    const struct callback callback = {.function = run, .data = &one};
    unsigned count = 0;
    while ((words[count] = callback_prepare(&context, &callback, true)) >= 0)
        count++;
    CHECK(count >= TESSERA_RELAY_WORDS / 2 - 2 && count <= TESSERA_RELAY_WORDS / 2);
    CHECK(relay_word_take(&relay_links[0], 0) >= 0); /* marks have theirs */
    callback_release(&relay_links[0], words[--count]);
    usleep(20000); /* a stream that polls it has seen the 0 */
    CHECK(callback_prepare(&context, &callback, true) == words[count]);
    for (unsigned i = 0; i <= count; i++)
        callback_release(&relay_links[0], words[i]);
}

/* A word gets no new owner before its last value was written. */
static void words_of_marks(void)
{
    struct relay_link *link = &relay_links[0];
    int word = completion_take(link, 0), other;
    uint64_t value = completion_next(link, word);
    CHECK(word >= 0 && value > 0 && value % 2 == 0);
    completion_give(link, word);
    completion_give(link, -1);
    unsigned left = 0;
    while ((other = completion_take(link, 1)) >= 0) {
        CHECK(other != word);
        left++;
    }
    CHECK(left > 1000);
    other = completion_take(link, 0); /* the one that others leave */
    CHECK(other >= 0 && completion_take(link, 0) == -1);
    __atomic_store_n(&segment->word[word], value, __ATOMIC_RELEASE);
    CHECK(completion_take(link, 0) == word && completion_next(link, word) == value + 2);
}

static void words_that_come_soon(void)
{
    struct relay_link *link = &relay_links[0];
    segment->word[5] = 40;
    CHECK(completion_reached_soon(link, 5, 40, segment->claimed) &&
          !completion_reached_soon(link, 5, 42, segment->claimed));
    uint64_t from_ns = monotonic_ns();
    CHECK(!completion_reached_soon(link, 5, 42, segment->consumed + 16) &&
          monotonic_ns() - from_ns >= COMPLETION_READ_NS);
}

int main(void)
{
    player_begin();
    once();
    again();
    as_many_as_there_are();
    words_of_marks();
    words_that_come_soon();
    player_end();
    return 0;
}
