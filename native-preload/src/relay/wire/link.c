/* Links: their state, and the thread that notices when an executor is gone. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay/wire/backoff.h"
#include "driver/clock.h"
#include "relay/wire/link.h"
#include "relay/wire/executor_notice.h"
#include "session/own_thread.h"
#include "session/report.h"
#include "session/wait_ready.h"

#define TICK_MS 250
/* RELAY.md, section 3. The end of the connection shows at once that an executor has died. Bounds on its silence are for an executor
 * that lives but does nothing: SILENCE_NS for one that is stopped. One that is not stopped gets much longer: it may be late, on a busy
 * machine or in a garbage collection. A manager that replaces a hanging executor ends it, which its connection shows. */
#define SILENCE_NS 30000000000ULL
#define LONGEST_SILENCE_NS 300000000000ULL

struct relay_link relay_links[TESSERA_MAX_DEVICES];
unsigned relay_link_count;
static uint64_t joined_ns;

CUresult relay_link_at(int device, struct relay_link **link)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (device < 0 || (unsigned)device >= relay_link_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *link = &relay_links[device];
    return CUDA_SUCCESS;
}

struct relay_link *relay_link_of(uint64_t handle)
{
    unsigned number = (unsigned)(handle >> 36 & 0xf);
    if (!relay_handle_type(handle))
        return NULL;
    for (unsigned i = 0; i < relay_link_count; i++)
        if (relay_links[i].number == number)
            return &relay_links[i];
    return NULL;
}

void link_lose(struct relay_link *link, const char *why)
{
    if (__atomic_exchange_n(&link->lost, 1, __ATOMIC_ACQ_REL))
        return;
    report_error(CUDA_ERROR_CONTEXT_IS_DESTROYED, "device %u: %s", link->device, why);
    report_line("device %u: %s: every later CUDA call fails", link->device, why);
}

/* Whether the executor's process exists and is neither stopped nor dead. False if /proc does not show it; true if no descriptor is left to
 * look. */
static bool may_go_on(int socket)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    char path[32], stat[512];
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid <= 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)peer.pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == EMFILE || errno == ENFILE; /* the program's limit says nothing about the executor */
    ssize_t read_bytes = read(file, stat, sizeof stat - 1);
    close(file);
    stat[read_bytes > 0 ? read_bytes : 0] = 0;
    const char *after_name = strrchr(stat, ')'); /* the name may have parentheses itself */
    return after_name && after_name[1] == ' ' && strchr("RSDI", after_name[2]);
}

/* Whether a silent executor may only be late. The threads that wait look at its process once a tick in all. */
static bool is_late(struct relay_link *link, uint64_t now_ns, uint64_t silent_ns)
{
    if (silent_ns > LONGEST_SILENCE_NS)
        return false;
    uint64_t looked_ns = __atomic_load_n(&link->looked_ns, __ATOMIC_RELAXED);
    if (now_ns - looked_ns < TICK_MS * 1000000ULL)
        return true;
    if (!may_go_on(link->socket))
        return false;
    __atomic_store_n(&link->looked_ns, now_ns, __ATOMIC_RELAXED);
    return true;
}

bool relay_link_alive(struct relay_link *link)
{
    if (__atomic_load_n(&link->lost, __ATOMIC_ACQUIRE))
        return false;
    if (__atomic_load_n(&link->segment->ended, __ATOMIC_ACQUIRE)) {
        link_lose(link, "the executor has ended its connection to this program");
        return false;
    }
    uint64_t now_ns = monotonic_ns();
    uint64_t beat_ns = __atomic_load_n(&link->segment->executor_heartbeat_ns, __ATOMIC_RELAXED);
    if (beat_ns < joined_ns)
        beat_ns = joined_ns;
    if (beat_ns < now_ns && now_ns - beat_ns > SILENCE_NS && !is_late(link, now_ns, now_ns - beat_ns)) {
        link_lose(link, now_ns - beat_ns > LONGEST_SILENCE_NS ? "the executor has been silent for 5 min"
                                                              : "the executor has been silent for 30 s and is stopped");
        return false;
    }
    return true;
}

CUresult relay_link_state(struct relay_link *link)
{
    int error = __atomic_load_n(&link->segment->context_error, __ATOMIC_ACQUIRE);
    if (error != 0) {
        relay_notice_of(link, error);
        return error;
    }
    return relay_link_alive(link) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult relay_take_error(struct relay_link *link)
{
    struct tessera_relay_segment *segment = link->segment;
    int error = __atomic_load_n(&segment->context_error, __ATOMIC_ACQUIRE);
    if (error == 0 && __atomic_load_n(&segment->call_error, __ATOMIC_RELAXED) != 0)
        error = __atomic_exchange_n(&segment->call_error, 0, __ATOMIC_ACQ_REL);
    if (error != 0)
        relay_notice_of(link, error);
    return error;
}

void relay_put_error(struct relay_link *link, CUresult error)
{
    int none = 0;
    __atomic_compare_exchange_n(&link->segment->call_error, &none, error, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Ends with the process; a link that is lost stays lost. */
static void *watch(void *unused)
{
    (void)unused;
    for (;;) {
        struct pollfd ready[TESSERA_MAX_DEVICES];
        uint64_t now_ns = monotonic_ns();
        for (unsigned i = 0; i < relay_link_count; i++) {
            struct relay_link *link = &relay_links[i];
            bool alive = relay_link_alive(link);
            if (alive)
                __atomic_store_n(&link->segment->client_heartbeat_ns, now_ns, __ATOMIC_RELAXED);
            /* Messages are answers, which fd_request.c reads: here only the end of the connection counts. */
            ready[i] = (struct pollfd){.fd = alive ? link->socket : -1, .events = POLLRDHUP};
        }
        if (wait_ready(ready, relay_link_count, TICK_MS) <= 0)
            continue;
        for (unsigned i = 0; i < relay_link_count; i++)
            if (ready[i].revents & (POLLRDHUP | POLLHUP | POLLERR))
                link_lose(&relay_links[i], "the executor is gone");
    }
    return NULL;
}

void link_open(unsigned device, unsigned number, struct tessera_relay_segment *segment, int socket)
{
    relay_links[device] = (struct relay_link){.segment = segment, .device = device, .number = number, .socket = socket};
}

bool link_watch(unsigned count)
{
    joined_ns = monotonic_ns();
    relay_link_count = count;
    return own_thread_start("tessera-relay", watch, NULL);
}

void link_forked(void)
{
    for (unsigned i = 0; i < relay_link_count; i++) {
        struct relay_link *link = &relay_links[i];
        close(link->socket); /* the child's copy: with it open the executor would not see the parent's end */
        link->socket = -1;
        link->lost = 1;
        /* The child does not have the pages (MADV_DONTFORK). Pages of zeros replace them, so that a read does not fault. */
        mmap(link->segment, sizeof *link->segment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
    }
    relay_link_count = 0;
}
