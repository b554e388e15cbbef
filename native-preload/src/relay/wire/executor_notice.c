#include "relay/wire/executor_notice.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "relay/wire/restart.h"
#include "session/report.h"
#include "session/settings.h"

#define AS_IT_IS '\1'

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t shown[TESSERA_MAX_DEVICES];

static void show(const char *line, size_t length)
{
    if (length > 0 && line[0] == AS_IT_IS) {
        /* Text that CUDA itself would print on stderr: a failed assertion of a kernel. */
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
    enum { LOOKS = 1000, LOOK_NS = 1000000 }; /* an executor on a busy machine may write its line late */
    static bool awaited[TESSERA_MAX_DEVICES];
    if (error == CUDA_ERROR_ILLEGAL_ADDRESS && !__atomic_exchange_n(&awaited[link->device], true, __ATOMIC_RELAXED)) {
        const struct timespec pause = {0, LOOK_NS};
        uint32_t known = __atomic_load_n(&shown[link->device], __ATOMIC_RELAXED);
        for (int i = 0; i < LOOKS && __atomic_load_n(&link->segment->notice_bytes, __ATOMIC_ACQUIRE) <= known; i++)
            nanosleep(&pause, NULL);
    }
    relay_notice(link);
}

/* The bytes of all lines so far if some were not shown, else 0. */
static uint32_t unshown(const struct relay_link *link)
{
    uint32_t said = __atomic_load_n(&link->segment->notice_bytes, __ATOMIC_ACQUIRE);
    if (said > sizeof link->segment->notice)
        said = sizeof link->segment->notice;
    return said > __atomic_load_n(&shown[link->device], __ATOMIC_RELAXED) ? said : 0;
}

/* Under the lock, without which another thread may have shown them: shows the new lines. */
static void show_new(struct relay_link *link)
{
    const struct tessera_relay_segment *segment = link->segment;
    uint32_t at = shown[link->device], said = unshown(link);
    if (!said)
        return;
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

void relay_notice(struct relay_link *link)
{
    if (unshown(link)) {
        pthread_mutex_lock(&lock);
        show_new(link);
        pthread_mutex_unlock(&lock);
    }
    if (__atomic_load_n(&link->segment->time_share, __ATOMIC_ACQUIRE))
        restart_in_time_sharing();
}

void relay_notice_at_end(struct relay_link *link)
{
    if (unshown(link) && pthread_mutex_trylock(&lock) == 0) {
        show_new(link);
        pthread_mutex_unlock(&lock);
    }
}
