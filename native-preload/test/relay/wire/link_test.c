/* Links: errors that they keep, executors that are gone or silent, and what a fork and the end of the process leave. */
#include "relay/wire/link.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"
#include "relay/wire/backoff.h"
#include "relay/wire/init_state.h"

static struct tessera_relay_segment *fresh_segment(void)
{
    struct tessera_relay_segment *segment = mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE,
                                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(segment != MAP_FAILED);
    segment->executor_heartbeat_ns = monotonic_ns();
    return segment;
}

static void errors(void)
{
    struct tessera_relay_segment *segment = fresh_segment();
    link_open(3, 9, segment, -1);
    struct relay_link *link = &relay_links[3];
    CHECK(relay_take_error(link) == CUDA_SUCCESS);
    segment->call_error = 719;
    relay_put_error(link, 700); /* the first one counts */
    CHECK(relay_link_state(link) == CUDA_SUCCESS);
    CHECK(relay_take_error(link) == 719 && relay_take_error(link) == CUDA_SUCCESS);
    relay_put_error(link, 700);
    CHECK(relay_take_error(link) == 700 && relay_take_error(link) == CUDA_SUCCESS);
    segment->context_error = 716; /* stays, and comes before others */
    relay_put_error(link, 700);
    CHECK(relay_take_error(link) == 716 && relay_take_error(link) == 716 && relay_link_state(link) == 716);
    segment->context_error = 0;
    CHECK(relay_take_error(link) == 700);
    segment->ended = 1;
    CHECK(relay_link_state(link) == CUDA_ERROR_CONTEXT_IS_DESTROYED && !relay_link_alive(link));
    segment->ended = 0;
    CHECK(relay_link_state(link) == CUDA_ERROR_CONTEXT_IS_DESTROYED); /* a lost link stays lost */
    CHECK(!relay_claim(link, TESSERA_RELAY_CALL, 8, RELAY_NO_END).record);
    CHECK(relay_query(link, TESSERA_QUERY_MEMORY, 0, NULL, 0) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

static void *says(void *of)
{
    static const char line[] = "a kernel of this program wrote outside of its memory\n";
    struct tessera_relay_segment *segment = of;
    usleep(20000);
    memcpy(segment->notice, line, sizeof line - 1);
    __atomic_store_n(&segment->notice_bytes, sizeof line - 1, __ATOMIC_RELEASE);
    return NULL;
}

/* The device reports a stray write before the executor writes its line. Only the first error waits for the line, and not for ever. */
static void error_before_its_line(void)
{
    pthread_t executor;
    struct tessera_relay_segment *segment = fresh_segment();
    link_open(5, 5, segment, -1);
    segment->context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK(pthread_create(&executor, NULL, says, segment) == 0);
    CHECK(relay_take_error(&relay_links[5]) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(__atomic_load_n(&segment->notice_bytes, __ATOMIC_ACQUIRE) != 0);
    pthread_join(executor, NULL);
    struct tessera_relay_segment *silent = fresh_segment();
    link_open(6, 6, silent, -1);
    silent->context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    for (int i = 0; i < 1000; i++)
        CHECK(relay_take_error(&relay_links[6]) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void names(void)
{
    struct relay_link *link;
    link_open(0, 7, fresh_segment(), -1);
    link_open(1, 2, fresh_segment(), -1);
    CHECK(relay_link_at(0, &link) == CUDA_ERROR_NOT_INITIALIZED);
    init_state_begin();
    CHECK(relay_link_at(0, &link) == CUDA_ERROR_INVALID_DEVICE);
    relay_link_count = 2;
    CHECK(relay_link_at(1, &link) == CUDA_SUCCESS && link == &relay_links[1]);
    CHECK(relay_link_at(2, &link) == CUDA_ERROR_INVALID_DEVICE && relay_link_at(-1, &link) == CUDA_ERROR_INVALID_DEVICE);
    uint64_t handle = TESSERA_HANDLE_TAG | (uint64_t)TESSERA_HANDLE_GREEN_CONTEXT << 40 | 2ULL << 36 | 5 << 4;
    CHECK(relay_handle_type(handle) == TESSERA_HANDLE_GREEN_CONTEXT && relay_link_of(handle) == &relay_links[1]);
    CHECK(relay_handle_type(0) == 0 && relay_handle_type(handle | 1ULL << 47) == 0 &&
          relay_handle_type(handle & UINT32_MAX) == 0);
    CHECK(!relay_link_of(handle ^ 1ULL << 36) && !relay_link_of(0x7fffffffe000ULL));
    relay_link_count = 0;
}

/* A process that has connected and then waits. Its end of the connection lives as long as it does. */
static pid_t connected(int *ours)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tessera-link-test-%d", getpid());
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    CHECK(bind(listening, (struct sockaddr *)&name, bytes) == 0 && listen(listening, 1) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int own = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (connect(own, (struct sockaddr *)&name, bytes) != 0)
            _exit(1);
        for (;;)
            pause();
    }
    *ours = accept(listening, NULL, NULL);
    CHECK(*ours >= 0);
    close(listening);
    return child;
}

/* An executor that is stopped is lost after 30 s of silence; one that runs only after 5 min. */
static void silence(void)
{
    int socket;
    uint64_t seconds = 1000000000ULL;
    if (monotonic_ns() < 400 * seconds) { /* the beats below would lie before the machine's start */
        printf("link: silence is not tested: the machine runs for less than 400 s\n");
        return;
    }
    pid_t executor = connected(&socket);
    struct tessera_relay_segment *segment = fresh_segment();
    link_open(4, 4, segment, socket);
    struct relay_link *link = &relay_links[4];
    segment->executor_heartbeat_ns = monotonic_ns() - 31 * seconds;
    CHECK(relay_link_alive(link));
    CHECK(kill(executor, SIGSTOP) == 0 && waitpid(executor, NULL, WUNTRACED) == executor);
    CHECK(relay_link_alive(link)); /* the process was checked just now, and is not checked each time */
    usleep(300000);
    segment->executor_heartbeat_ns = monotonic_ns() - 25 * seconds;
    CHECK(relay_link_alive(link));
    segment->executor_heartbeat_ns = monotonic_ns() - 31 * seconds;
    CHECK(!relay_link_alive(link) && relay_link_state(link) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    link_open(4, 4, segment, socket);
    CHECK(kill(executor, SIGCONT) == 0);
    usleep(20000);
    segment->executor_heartbeat_ns = monotonic_ns() - 299 * seconds;
    CHECK(relay_link_alive(link));
    segment->executor_heartbeat_ns = monotonic_ns() - 301 * seconds;
    CHECK(!relay_link_alive(link));
    kill(executor, SIGKILL);
    waitpid(executor, NULL, 0);
    close(socket);
}

static bool is_lost(const struct relay_link *link)
{
    return __atomic_load_n(&link->lost, __ATOMIC_ACQUIRE);
}

static bool becomes_lost(const struct relay_link *link)
{
    for (int i = 0; i < 20000 && !is_lost(link); i++)
        usleep(1000);
    return is_lost(link);
}

/* The child of a program that used CUDA has no link, writes into no ring, and keeps no connection open. */
static void forked(int peer)
{
    pid_t child = fork();
    if (child == 0) {
        struct tessera_relay_segment *segment = relay_links[0].segment;
        bool used = init_state_forked();
        link_forked();
        segment->claimed = 4711;
        CHECK(used && !init_state_forked() && relay_started() == CUDA_ERROR_NOT_INITIALIZED);
        CHECK(relay_link_count == 0 && relay_links[0].socket == -1 && relay_links[0].lost);
        close(peer); /* the child's copy of the executor's end */
        pause();
    }
    usleep(50000);
    CHECK(waitpid(child, NULL, WNOHANG) == 0 && relay_links[0].segment->claimed == 0 && !relay_links[0].lost);
    char byte;
    close(relay_links[0].socket);
    CHECK(recv(peer, &byte, 1, 0) == 0); /* the end is seen, although the child lives */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void watched(void)
{
    int first[2], second[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, first) == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, second) == 0);
    link_open(0, 0, fresh_segment(), first[0]);
    link_open(1, 1, fresh_segment(), second[0]);
    relay_links[0].segment->executor_heartbeat_ns = 0; /* no beat yet: silence counts from the start */
    CHECK(link_watch(2));
    for (int i = 0; i < 2000 && __atomic_load_n(&relay_links[0].segment->client_heartbeat_ns, __ATOMIC_RELAXED) == 0;
         i++)
        usleep(10000);
    CHECK(__atomic_load_n(&relay_links[0].segment->client_heartbeat_ns, __ATOMIC_RELAXED) != 0);
    CHECK(!is_lost(&relay_links[0]) && !is_lost(&relay_links[1]));
    close(second[1]);
    CHECK(becomes_lost(&relay_links[1]) && !is_lost(&relay_links[0])); /* one executor's end is not another's */
    forked(first[1]);
    close(first[1]);
}

static bool ending;

/* Runs after the library's own destructor, as those of other libraries do. */
__attribute__((destructor(101))) static void after_the_library(void)
{
    if (ending && relay_started() != CUDA_ERROR_DEINITIALIZED)
        _exit(3);
}

static void ended(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        ending = true;
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    alarm(HANGS_S);
    errors();
    error_before_its_line();
    names();
    silence();
    watched();
    ended();
    return 0;
}
