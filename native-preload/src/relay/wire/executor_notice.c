#include "relay/wire/executor_notice.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/clock.h"
#include "relay/wire/backoff.h"
#include "relay/wire/completion.h"
#include "relay/wire/context.h"
#include "relay/wire/restart.h"
#include "session/report.h"
#include "session/settings.h"

#define AS_IT_IS '\1'

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t shown[TESSERA_MAX_DEVICES];

static void show(const char *line, size_t length)
{
    if (length > 0 && line[0] == AS_IT_IS) {
        /* Text that CUDA prints on stderr itself: an assertion. */
        ssize_t written = settings()->quiet ? 0 : write(STDERR_FILENO, line + 1, length);
        (void)written;
        report_error(0, "%.*s", (int)length - 1, line + 1);
        return;
    }
    report_error(0, "%.*s", (int)length, line);
    report_line("%.*s", (int)length, line);
}

void relay_notice_of(struct relay_link *link, CUresult error)
{
    enum { LOOKS = 100, LOOK_NS = 1000000 };
    static bool awaited[TESSERA_MAX_DEVICES];
    if (error == CUDA_ERROR_ILLEGAL_ADDRESS && !__atomic_exchange_n(&awaited[link->device], true, __ATOMIC_RELAXED)) {
        const struct timespec pause = {0, LOOK_NS};
        uint32_t known = __atomic_load_n(&shown[link->device], __ATOMIC_RELAXED);
        for (int i = 0; i < LOOKS && __atomic_load_n(&link->segment->notice_bytes, __ATOMIC_ACQUIRE) <= known; i++)
            nanosleep(&pause, NULL);
    }
    relay_notice(link);
}

/* Under the lock: shows the lines up to a byte. */
static void show_up_to(struct relay_link *link, uint32_t said)
{
    const struct tessera_relay_segment *segment = link->segment;
    uint32_t at = shown[link->device];
    while (at < said) {
        const char *line = segment->notice + at;
        const char *end = memchr(line, '\n', said - at);
        if (!end)
            break;
        show(line, (size_t)(end - line));
        at += (uint32_t)(end - line) + 1;
    }
    __atomic_store_n(&shown[link->device], said, __ATOMIC_RELAXED);
}

/* How many bytes of lines there are, if some were not shown; else 0. */
static uint32_t unshown(const struct relay_link *link)
{
    uint32_t said = __atomic_load_n(&link->segment->notice_bytes, __ATOMIC_ACQUIRE);
    if (said > sizeof link->segment->notice)
        said = sizeof link->segment->notice;
    return said > __atomic_load_n(&shown[link->device], __ATOMIC_RELAXED) ? said : 0;
}

void relay_notice(struct relay_link *link)
{
    uint32_t said = unshown(link);
    if (said) {
        pthread_mutex_lock(&lock);
        show_up_to(link, said);
        pthread_mutex_unlock(&lock);
    }
    if (__atomic_load_n(&link->segment->time_share, __ATOMIC_ACQUIRE))
        restart_in_time_sharing();
}

/* How long the end of a program may be put off in all. */
#define LAST_NS 1000000000ULL
static uint64_t last_until_ns;

static void wait_last(struct relay_context *context)
{
    struct relay_link *link = context->link;
    struct relay_backoff backoff = {0};
    int word = __atomic_load_n(&link->segment->context_error, __ATOMIC_ACQUIRE) ? -1 : completion_take(link, 0);
    if (word < 0)
        return; /* what is lost says nothing new */
    uint64_t value = completion_next(link, word);
    if (relay_send_last_mark(context, word, value) != CUDA_SUCCESS)
        return;
    while (!relay_word_reached(link, word, value) && monotonic_ns() < last_until_ns && relay_backoff_step(&backoff, link))
        ;
}

void relay_last_notices(void)
{
    last_until_ns = monotonic_ns() + LAST_NS;
    for (unsigned i = 0; i < relay_link_count; i++) {
        struct relay_link *link = &relay_links[i];
        if (relay_link_alive(link))
            context_each(link, wait_last);
        uint32_t said = unshown(link);
        /* Not waited for: the thread that has it may be this one, in a signal handler that ends the program. */
        if (said && pthread_mutex_trylock(&lock) == 0) {
            show_up_to(link, said);
            pthread_mutex_unlock(&lock);
        }
    }
}
