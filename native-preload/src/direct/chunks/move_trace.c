#include "direct/chunks/move_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/clock.h"
#include "driver/own_descriptor.h"
#include "session/report.h"

#define BUFFER_BYTES (8u << 20) /* some 100,000 events, as in a hand-over of the largest device */
#define LINE_BYTES 128

bool move_trace_on;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;
static size_t used;
static int file = -1;
static bool full; /* reported once */

static void open_file(void)
{
    const char *path = getenv("TESSERA_MOVE_TRACE");
    if (!path || !*path)
        return;
    file = own_descriptor(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    void *memory = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || memory == MAP_FAILED) {
        report_line("TESSERA_MOVE_TRACE=%s cannot be opened: no trace", path);
        return;
    }
    buffer = memory;
    __atomic_store_n(&move_trace_on, true, __ATOMIC_RELEASE);
}

void move_trace_open(void)
{
    pthread_once(&once, open_file);
}

void move_trace_note(unsigned device, const char *event, const void *chunk, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    if (used + LINE_BYTES <= BUFFER_BYTES)
        used += (size_t)snprintf(buffer + used, LINE_BYTES, "%llu %d %u %s %lx %llu\n",
                                 (unsigned long long)monotonic_ns(), (int)getpid(), device, event,
                                 (unsigned long)(uintptr_t)chunk, (unsigned long long)bytes);
    else if (!full)
        report_error(0, "TESSERA_MOVE_TRACE: more events in one move than fit: the trace has holes");
    full |= used + LINE_BYTES > BUFFER_BYTES;
    pthread_mutex_unlock(&lock);
}

void move_trace_write(void)
{
    if (!__atomic_load_n(&move_trace_on, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    if (used && write(file, buffer, used) != (ssize_t)used)
        report_error(-errno, "TESSERA_MOVE_TRACE: a part could not be written: the trace has holes");
    used = 0;
    pthread_mutex_unlock(&lock);
}

void move_trace_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    used = 0; /* the parent writes these events */
}
