#include "relay/wire/callbacks.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "driver/clock.h"
#include "session/own_thread.h"
#include "session/report.h"

#define CALLED 1u /* written by the device */
#define SPIN_NS 20000u
#define SLEEP_NS 20000L
#define WORDS_MOST (TESSERA_RELAY_WORDS / 2) /* the rest is for marks, which every wait needs */
#define SETTLE_NS 10000000ULL                /* a stream that polls its word has seen the 0 by then */

struct slot {
    struct callback callback;
    uint64_t free_since_ns; /* of a word that waits to be used again */
    bool in_use;
    bool again;
};

static struct slot slots[TESSERA_MAX_DEVICES][TESSERA_RELAY_WORDS];
static int used[TESSERA_MAX_DEVICES][TESSERA_RELAY_WORDS]; /* the words in use, in no order */
static unsigned used_count[TESSERA_MAX_DEVICES];
static unsigned total;
/* A ring of free words. Words of callbacks never go back to the marks, whose values must only grow. */
static int idle[TESSERA_MAX_DEVICES][TESSERA_RELAY_WORDS];
static unsigned idle_first[TESSERA_MAX_DEVICES], idle_count[TESSERA_MAX_DEVICES];
static unsigned words[TESSERA_MAX_DEVICES];  /* taken from the marks */
static unsigned queued[TESSERA_MAX_DEVICES]; /* callbacks that run once */
static bool running, said;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

/* A word that holds 0 and that no stream looks at. Under the lock. */
static int take_word(struct relay_link *link)
{
    unsigned device = link->device, *first = &idle_first[device];
    if (idle_count[device] != 0 && monotonic_ns() - slots[device][idle[device][*first]].free_since_ns > SETTLE_NS) {
        int word = idle[device][*first];
        *first = (*first + 1) % TESSERA_RELAY_WORDS;
        idle_count[device]--;
        return word;
    }
    int word = words[device] < WORDS_MOST ? relay_word_take(link, RELAY_WORDS_OF_STREAMS) : -1;
    if (word >= 0) {
        words[device]++;
        __atomic_store_n(relay_word(link, word), 0, __ATOMIC_RELEASE);
    }
    return word;
}

/*
 * As take_word(), but waits for queued functions to run, as a driver with a full queue does. Called with the lock,
 * which is released while it waits.
 */
static int await_word(struct relay_link *link, bool may_wait)
{
    int word = take_word(link);
    while (word < 0 && may_wait && queued[link->device] + idle_count[link->device] != 0 &&
           relay_link_state(link) == CUDA_SUCCESS) {
        pthread_mutex_unlock(&lock);
        struct timespec pause = {0, SLEEP_NS};
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        word = take_word(link);
    }
    return word;
}

/* Under the lock. */
static void drop(struct relay_link *link, int word)
{
    unsigned device = link->device;
    struct slot *slot = &slots[device][word];
    if (!slot->in_use)
        return;
    slot->in_use = false;
    queued[device] -= !slot->again;
    slot->free_since_ns = monotonic_ns();
    idle[device][(idle_first[device] + idle_count[device]++) % TESSERA_RELAY_WORDS] = word;
    for (unsigned i = 0; i < used_count[device]; i++)
        if (used[device][i] == word) {
            /* The thread that looks at the words reads them without the lock. */
            __atomic_store_n(&used[device][i], used[device][used_count[device] - 1], __ATOMIC_RELAXED);
            __atomic_store_n(&used_count[device], used_count[device] - 1, __ATOMIC_RELAXED);
            break;
        }
    total--;
}

/* The function runs without the lock: it may take its time, and other threads go on preparing callbacks. */
static void run(struct relay_link *link, int word)
{
    pthread_mutex_lock(&lock);
    struct slot slot = slots[link->device][word];
    pthread_mutex_unlock(&lock);
    if (!slot.in_use)
        return;
    callback_inside = true;
    if (slot.callback.stream_function)
        slot.callback.stream_function(slot.callback.stream, CUDA_SUCCESS, slot.callback.data);
    else
        slot.callback.function(slot.callback.data);
    callback_inside = false;
    __atomic_store_n(relay_word(link, word), 0, __ATOMIC_RELEASE);
    if (!slot.again) {
        pthread_mutex_lock(&lock);
        drop(link, word);
        pthread_mutex_unlock(&lock);
    }
}

/* One look at all words in use. Returns how many functions ran. */
static unsigned look(struct relay_link *link)
{
    unsigned ran = 0;
    for (unsigned i = 0; i < __atomic_load_n(&used_count[link->device], __ATOMIC_ACQUIRE); i++) {
        int word = __atomic_load_n(&used[link->device][i], __ATOMIC_RELAXED);
        if (__atomic_load_n(relay_word(link, word), __ATOMIC_ACQUIRE) == CALLED) {
            run(link, word);
            ran++;
        }
    }
    return ran;
}

static void *serve(void *unused)
{
    uint64_t idle_since_ns = monotonic_ns();
    (void)unused;
    for (;;) {
        unsigned ran = 0;
        for (unsigned i = 0; i < relay_link_count; i++)
            if (__atomic_load_n(&used_count[i], __ATOMIC_RELAXED) != 0)
                ran += look(&relay_links[i]);
        pthread_mutex_lock(&lock);
        while (total == 0)
            pthread_cond_wait(&more, &lock);
        pthread_mutex_unlock(&lock);
        uint64_t now_ns = monotonic_ns();
        if (ran != 0)
            idle_since_ns = now_ns;
        if (now_ns - idle_since_ns < SPIN_NS) {
            sched_yield();
        } else {
            struct timespec pause = {0, SLEEP_NS};
            nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

static bool start(void)
{
    if (!running)
        running = own_thread_start("tessera-call", serve, NULL);
    if (!running)
        report_error(0, "no thread for host functions");
    return running;
}

int callback_prepare(struct relay_context *context, const struct callback *callback, bool again)
{
    struct relay_link *link = context->link;
    unsigned device = link->device;
    pthread_mutex_lock(&lock);
    int word = start() ? await_word(link, !again && !callback_inside) : -1;
    if (word < 0 && running && !said) {
        said = true;
        report_line(
            "there are more host functions than the %u that may be in graphs and queues at a time: the call fails (OUT_OF_MEMORY); "
            "destroy graphs that are not used",
            WORDS_MOST);
    }
    if (word >= 0) {
        slots[device][word] = (struct slot){.callback = *callback, .in_use = true, .again = again};
        __atomic_store_n(&used[device][used_count[device]], word, __ATOMIC_RELAXED);
        __atomic_store_n(&used_count[device], used_count[device] + 1, __ATOMIC_RELEASE);
        total++;
        queued[device] += !again;
        pthread_cond_signal(&more);
    }
    pthread_mutex_unlock(&lock);
    return word;
}

bool callback_of(struct relay_link *link, int word, struct callback *callback)
{
    if (word < 0 || word >= (int)TESSERA_RELAY_WORDS)
        return false;
    pthread_mutex_lock(&lock);
    const struct slot *slot = &slots[link->device][word];
    bool found = slot->in_use;
    *callback = slot->callback;
    pthread_mutex_unlock(&lock);
    return found;
}

bool callback_change(struct relay_link *link, int word, const struct callback *callback)
{
    if (word < 0 || word >= (int)TESSERA_RELAY_WORDS)
        return false;
    pthread_mutex_lock(&lock);
    struct slot *slot = &slots[link->device][word];
    bool found = slot->in_use;
    if (found)
        slot->callback = *callback;
    pthread_mutex_unlock(&lock);
    return found;
}

void callback_release(struct relay_link *link, int word)
{
    pthread_mutex_lock(&lock);
    struct callback callback = slots[link->device][word].callback;
    bool used_now = slots[link->device][word].in_use;
    drop(link, word);
    pthread_mutex_unlock(&lock);
    if (used_now && callback.released)
        callback.released(callback.data);
}
