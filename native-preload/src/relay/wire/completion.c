#include "relay/wire/completion.h"

#include <pthread.h>
#include <sched.h>

#include "driver/clock.h"

static uint64_t last[TESSERA_MAX_DEVICES][TESSERA_RELAY_WORDS];
static bool waiting[TESSERA_MAX_DEVICES][TESSERA_RELAY_WORDS]; /* given back, last value not written yet */
static unsigned waiting_count[TESSERA_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool settled(struct relay_link *link, int word)
{
    return relay_word_reached(link, word, last[link->device][word]);
}

static void give_settled(struct relay_link *link)
{
    pthread_mutex_lock(&lock);
    for (int word = 0; word < (int)TESSERA_RELAY_WORDS && waiting_count[link->device] != 0; word++)
        if (waiting[link->device][word] && settled(link, word)) {
            waiting[link->device][word] = false;
            waiting_count[link->device]--;
            relay_word_give(link, word);
        }
    pthread_mutex_unlock(&lock);
}

int completion_take(struct relay_link *link, unsigned leave)
{
    if (__atomic_load_n(&waiting_count[link->device], __ATOMIC_RELAXED) > TESSERA_RELAY_WORDS / 4)
        give_settled(link);
    int word = relay_word_take(link, leave);
    if (word < 0) {
        give_settled(link);
        word = relay_word_take(link, leave);
    }
    return word;
}

uint64_t completion_next(const struct relay_link *link, int word)
{
    return last[link->device][word] += 2;
}

void completion_give(struct relay_link *link, int word)
{
    if (word < 0)
        return;
    if (settled(link, word)) {
        relay_word_give(link, word);
        return;
    }
    pthread_mutex_lock(&lock);
    waiting[link->device][word] = true;
    waiting_count[link->device]++;
    pthread_mutex_unlock(&lock);
}

bool completion_reached_soon(struct relay_link *link, int word, uint64_t value, uint64_t position)
{
    uint64_t begin_ns = monotonic_ns(), read_ns = 0, now_ns = begin_ns;
    bool software = link->segment->device.software != 0;
    uint64_t soon_ns = software ? COMPLETION_SOFTWARE_NS : COMPLETION_SOON_NS,
             most_ns = software ? COMPLETION_SOFTWARE_NS : COMPLETION_READ_NS;
    do {
        for (int i = 0; i < 16; i++) {
            if (relay_word_reached(link, word, value))
                return true;
            __builtin_ia32_pause();
        }
        now_ns = monotonic_ns();
        if (read_ns == 0 && __atomic_load_n(&link->segment->consumed, __ATOMIC_ACQUIRE) > position)
            read_ns = now_ns;
        sched_yield(); /* the executor may need this core */
    } while (now_ns - begin_ns < most_ns && (read_ns == 0 || now_ns - read_ns < soon_ns));
    return relay_word_reached(link, word, value);
}
