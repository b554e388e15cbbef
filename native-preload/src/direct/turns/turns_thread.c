#include "direct/turns/turns_thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "session/own_thread.h"
#include "session/report.h"
#include "tessera_abi.h"

static struct {
    uint32_t rings; /* futex: counts */
    bool started;
} bells[TESSERA_MAX_DEVICES];
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*serve)(unsigned device);

void turns_thread_serves(uint64_t (*round)(unsigned device))
{
    serve = round;
}

static void *run(void *argument)
{
    unsigned device = (unsigned)(uintptr_t)argument;
    uint32_t *rings = &bells[device].rings;
    own_thread_relax("the drain thread");
    for (;;) {
        uint32_t heard = __atomic_load_n(rings, __ATOMIC_ACQUIRE);
        uint64_t sleep_ns = serve(device);
        if (sleep_ns) {
            struct timespec t = {(time_t)(sleep_ns / 1000000000ULL), (long)(sleep_ns % 1000000000ULL)};
            syscall(SYS_futex, rings, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, heard, &t, NULL, 0);
        }
    }
    return NULL;
}

void turns_thread_wake(unsigned device)
{
    pthread_mutex_lock(&start_lock);
    if (!bells[device].started && serve && devices_opened(device)) {
        bells[device].started = own_thread_start("tessera-turns", run, (void *)(uintptr_t)device);
        if (!bells[device].started)
            report_error(0, "no thread for the turns of device %u: retried at the next order", device);
    }
    pthread_mutex_unlock(&start_lock);
    __atomic_fetch_add(&bells[device].rings, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &bells[device].rings, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

void turns_thread_forked(void)
{
    pthread_mutex_init(&start_lock, NULL);
    memset(bells, 0, sizeof bells);
}
