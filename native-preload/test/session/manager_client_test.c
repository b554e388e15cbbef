/* Registration with a manager, its messages, and its end, against a manager that the test plays at a socket of its own. */
#include "session/manager_client.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"
#include "session/connection.h"
#include "session/manager.h"
#include "session/quota.h"
#include "session/segment.h"
#include "session/settings.h"
#include "session/wait_ready.h"
#include "tessera_relay.h"

#define BOUND_NS 30000000000ULL

static int listener;
static struct tessera_hello hello;
static struct tessera_segment *segment; /* the manager's view */

/* What the manager answers a HELLO with. */
enum answer { CLOSES, SAYS_NOTHING, REFUSES, BABBLES, SENDS_HALF, SENDS_NO_SEGMENT, WELCOMES };

struct meeting {
    enum answer answer;
    int socket; /* the manager's end */
};

static int segment_file(void)
{
    int file = memfd_create("segment", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, TESSERA_SEGMENT_BYTES) == 0);
    segment = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(segment != MAP_FAILED);
    segment->magic = TESSERA_ABI_MAGIC;
    segment->version = TESSERA_ABI_VERSION;
    segment->segment_bytes = TESSERA_SEGMENT_BYTES;
    segment->device_slots = TESSERA_MAX_DEVICES;
    segment->thread_slots = TESSERA_MAX_THREADS;
    return file;
}

static void *meet(void *of)
{
    struct meeting *m = of;
    struct tessera_welcome welcome = {.client_id = 77, .segment_bytes = TESSERA_SEGMENT_BYTES};
    struct tessera_refused refused = {.reason = "too many clients"};
    _Alignas(8) char buffer[4096];
    int descriptor = -1;
    m->socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(m->socket >= 0);
    CHECK(connection_receive_with(m->socket, buffer, &descriptor, 10000) == (int)sizeof hello && descriptor == -1);
    memcpy(&hello, buffer, sizeof hello);
    if (m->answer == CLOSES)
        close(m->socket);
    else if (m->answer == REFUSES)
        connection_send(m->socket, &refused.head, TESSERA_MSG_REFUSED, sizeof refused, 0);
    else if (m->answer == BABBLES)
        CHECK(send(m->socket, "HTTP/1.1 200 OK", 15, 0) == 15);
    else if (m->answer == SENDS_HALF)
        connection_send(m->socket, &welcome.head, TESSERA_MSG_WELCOME, sizeof welcome - 8, 0);
    else if (m->answer == SENDS_NO_SEGMENT)
        connection_send(m->socket, &welcome.head, TESSERA_MSG_WELCOME, sizeof welcome, 0);
    else if (m->answer == WELCOMES) {
        int file = segment_file();
        connection_send_with(m->socket, &welcome.head, TESSERA_MSG_WELCOME, sizeof welcome, 0, file);
        close(file);
    }
    return NULL;
}

static int open_files(void)
{
    int files = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder);
    while (readdir(folder))
        files++;
    closedir(folder);
    return files;
}

/* A registration that fails gives the reason, and leaves no descriptor open. */
static void fails(enum answer answer, const char *reason)
{
    struct meeting m = {.answer = answer};
    pthread_t manager;
    int before = open_files();
    CHECK(pthread_create(&manager, NULL, meet, &m) == 0);
    struct connection c = connection_open(answer == SAYS_NOTHING ? 50 : 10000);
    pthread_join(manager, NULL);
    if (answer != CLOSES)
        close(m.socket);
    CHECK(c.socket < 0 && c.segment < 0 && strstr(c.reason, reason));
    CHECK(open_files() == before);
}

static void registrations(void)
{
    fails(CLOSES, "the manager closed the connection");
    fails(SAYS_NOTHING, "no answer from the manager");
    fails(REFUSES, CONNECTION_REFUSED "too many clients");
    CHECK(wait_ready_ms(1999999) == 1 &&
          wait_ready_ms(3000000000ULL * 1000000) == INT_MAX); /* TESSERA_MANAGER_TIMEOUT_MS=3000000000 */
    CHECK(connection_refused("the manager refused: x") && !connection_refused("no answer from the manager"));
    fails(BABBLES, "something else than version");
    fails(SENDS_HALF, "something else than version");
    fails(SENDS_NO_SEGMENT, "the manager sent no segment");
    CHECK(hello.pid == (uint32_t)getpid() && strcmp(hello.tenant, "somebody") == 0 && hello.limit_bytes == 5000 &&
          hello.plan == TESSERA_PLAN_PLAIN && strcmp(hello.command, "manager_client_test") == 0);
}

/* The messages to the port. */
static unsigned frozen, thawed, thawed_connected, lost, ordered, answered;
static unsigned exchanged_end;
static int exchanged = -1;
static bool busy;

static bool freeze(uint64_t timeout_ns)
{
    CHECK(timeout_ns > 0);
    frozen++;
    return !busy;
}

static void thaw(bool connected)
{
    __atomic_fetch_add(&thawed, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&thawed_connected, connected, __ATOMIC_RELEASE);
}

static void forget(void)
{
    __atomic_fetch_add(&lost, 1, __ATOMIC_RELEASE);
}

static void order(unsigned device)
{
    __atomic_fetch_add(&ordered, device == 3, __ATOMIC_RELEASE);
}

static void take_exchange(unsigned device, unsigned end, int descriptor)
{
    CHECK(device == 2);
    exchanged_end = end;
    __atomic_store_n(&exchanged, descriptor, __ATOMIC_RELEASE);
}

static void take_relay_answer(const struct tessera_relay_answer *answer)
{
    CHECK(answer->head.device == 1);
    __atomic_fetch_add(&answered, 1, __ATOMIC_RELEASE);
}

static const struct manager_handlers handlers = {.freeze = freeze,
                                                 .thaw = thaw,
                                                 .lost = forget,
                                                 .order = order,
                                                 .exchange = take_exchange,
                                                 .relay_answer = take_relay_answer};

#define AWAIT(condition)                                                                                               \
    do {                                                                                                               \
        uint64_t until_ns = monotonic_ns() + BOUND_NS;                                                                 \
        while (!(condition)) {                                                                                         \
            CHECK(monotonic_ns() < until_ns);                                                                          \
            usleep(1000);                                                                                              \
        }                                                                                                              \
    } while (0)

#define LOAD(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)

/* A submission that stays in the driver keeps the segment from changing: no registration, but the program goes on. */
static void busy_port(void)
{
    struct meeting m = {.answer = WELCOMES};
    pthread_t manager;
    CHECK(pthread_create(&manager, NULL, meet, &m) == 0);
    busy = true;
    CHECK(manager_client_start(&handlers));
    pthread_join(manager, NULL);
    char reason[200];
    manager_client_absence_reason(reason, sizeof reason);
    CHECK(strcmp(reason, "a submission did not return in time") == 0 && !manager_connected());
    CHECK(frozen == 1 && thawed == 2 && thawed_connected == 0);
    CHECK(recv(m.socket, reason, 1, 0) == 0);
    close(m.socket);
    busy = false;
}

/* The thread tries again by itself. */
static int registers(unsigned before)
{
    struct meeting m = {.answer = WELCOMES};
    meet(&m);
    AWAIT(LOAD(thawed_connected) == before + 1);
    CHECK(manager_connected() && LOAD(lost) == before);
    AWAIT(LOAD(segment->counters[TESSERA_COUNTER_RECONNECTS]) == before + 1 && LOAD(segment->client_heartbeat_ns) != 0);
    return m.socket;
}

static unsigned errors(const char *text)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TESSERA_ERROR_ENTRIES; i++)
        if (LOAD(segment->errors[i].ready) && strstr(segment->errors[i].text, text))
            count += (unsigned)segment->errors[i].count;
    return count;
}

static void messages(int socket)
{
    struct tessera_message bell;
    connection_send(socket, &bell, TESSERA_MSG_DOORBELL, sizeof bell, 3);
    AWAIT(LOAD(ordered) == 1);

    quota_await_lease(4);
    struct tessera_quota quota = {.bytes = 4096};
    connection_send(socket, &quota.head, TESSERA_MSG_QUOTA_ANSWER, sizeof quota, 4);
    AWAIT(LOAD(segment->devices[4].granted_bytes) == 4096);
    CHECK(quota_take(4, 4096));

    struct tessera_exchange exchange = {.end = 1};
    int ends[2];
    CHECK(pipe(ends) == 0);
    connection_send_with(socket, &exchange.head, TESSERA_MSG_EXCHANGE, sizeof exchange, 2, ends[1]);
    AWAIT(LOAD(exchanged) >= 0);
    CHECK(exchanged_end == 1 && write(exchanged, "x", 1) == 1);
    close(exchanged);
    close(ends[1]);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1 && read(ends[0], &byte, 1) == 0); /* nobody else has it */
    close(ends[0]);

    struct tessera_relay_answer answer = {0};
    connection_send(socket, &answer.head, TESSERA_MSG_RELAY_ANSWER, sizeof answer, 1);
    AWAIT(LOAD(answered) == 1);
}

/* Each is noted, and its descriptor closed. The connection stays. */
static void ignored_messages(int socket)
{
    int files = open_files(), ends[2];
    struct tessera_exchange exchange = {.end = TESSERA_EXCHANGE_ENDS};
    struct tessera_quota quota = {.bytes = 1};
    CHECK(pipe(ends) == 0);
    connection_send_with(socket, &exchange.head, TESSERA_MSG_EXCHANGE, sizeof exchange, 2, ends[1]); /* no such end */
    close(ends[1]);
    exchange.end = 0;
    connection_send(socket, &exchange.head, TESSERA_MSG_EXCHANGE, sizeof exchange, 2); /* no descriptor */
    connection_send(socket, &quota.head, TESSERA_MSG_QUOTA_TRIM, sizeof quota - 4, 2);
    connection_send(socket, &quota.head, 999, sizeof quota, 2);
    AWAIT(errors(": ignored") == 4);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 0);
    close(ends[0]);
    CHECK(open_files() == files && manager_connected() && LOAD(lost) == 0 && LOAD(answered) == 1);
}

/* The manager is lost, and its leases with it; the segment is the client's own again. */
static void ends(int socket)
{
    struct tessera_segment *managers = segment;
    CHECK(send(socket, "nonsense of sixteen bytes", 25, 0) == 25);
    AWAIT(LOAD(lost) == 1);
    AWAIT(!manager_connected() && LOAD(tessera_segment->counters[TESSERA_COUNTER_UNGATED]) == 1);
    CHECK(managers->counters[TESSERA_COUNTER_UNGATED] == 0);                  /* counted in the copy */
    CHECK(quota_used(4) == 4096 && quota_take(4, 900) && !quota_take(4, 10)); /* the program's own limit of 5000 */
    close(socket);
}

/*
 * The manager is killed, and another one comes before the gates would open: nothing is thawed, and no line is written,
 * in between.
 */
static void is_killed(int socket)
{
    unsigned thaws = LOAD(thawed), losses = LOAD(lost), connections = LOAD(thawed_connected);
    uint64_t ungated = LOAD(tessera_segment->counters[TESSERA_COUNTER_UNGATED]);
    __atomic_store_n(&segment->manager_heartbeat_ns, monotonic_ns(), __ATOMIC_RELEASE);
    close(socket);
    AWAIT(LOAD(lost) == losses + 1);
    usleep(300000); /* some tries */
    CHECK(!manager_connected() && LOAD(thawed) == thaws);
    struct meeting m = {.answer = WELCOMES};
    meet(&m);
    AWAIT(LOAD(thawed_connected) == connections + 1);
    CHECK(LOAD(thawed) == thaws + 1 && LOAD(tessera_segment->counters[TESSERA_COUNTER_UNGATED]) == ungated);
    /* An orderly end: the manager announces it before it goes. */
    __atomic_store_n(&segment->manager_heartbeat_ns, 0, __ATOMIC_RELEASE);
    close(m.socket);
    AWAIT(LOAD(tessera_segment->counters[TESSERA_COUNTER_UNGATED]) == ungated + 1);
}

static bool said(int file, const char *text)
{
    char lines[1000] = "";
    return pread(file, lines, sizeof lines - 1, 0) > 0 && strstr(lines, text);
}

/* With TESSERA_REQUIRE: the manager is lost, and CUDA is refused at the next cuInit, which says why. */
static void lost_but_required(void)
{
    struct meeting m = {.answer = WELCOMES};
    pthread_t manager;
    int terminal = dup(STDERR_FILENO), lines = memfd_create("lines", MFD_CLOEXEC);
    CHECK(terminal >= 0 && lines >= 0 && pthread_create(&manager, NULL, meet, &m) == 0);
    CHECK(manager_client_start(&handlers) && pthread_join(manager, NULL) == 0);
    dup2(lines, STDERR_FILENO);
    close(m.socket);
    AWAIT(said(lines, "running without turns until it is back\n"));
    bool starts = manager_client_start(&handlers);
    dup2(terminal, STDERR_FILENO);
    CHECK(!starts && said(lines, "\ntessera: the manager is gone, and TESSERA_REQUIRE is set: CUDA is refused\n"));
}

int main(int argc, char **argv)
{
    static char folder[] = "/tmp/tessera-client-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    alarm(HANGS_S);
    if (argc == 1) { /* settings are read before main */
        CHECK(mkdtemp(folder) && setenv("TESSERA_RUNTIME_DIR", folder, 1) == 0);
        CHECK(setenv("TESSERA_NAME", "somebody", 1) == 0 && setenv("TESSERA_MEMORY", "5000", 1) == 0);
        CHECK(setenv("TESSERA_MANAGER_TIMEOUT_MS", "30000", 1) == 0 && setenv("TESSERA_QUIET", "1", 1) == 0);
        unsetenv("TESSERA_PLAN");
        unsetenv("TESSERA_REQUIRE");
        unsetenv("TESSERA_SHARE");
        execv("/proc/self/exe", (char *[]){argv[0], folder, NULL});
        CHECK(false);
    }
    CHECK(segment_open());
    struct connection c = connection_open(1000);
    CHECK(c.socket < 0 && strstr(c.reason, "no manager at ") && strstr(c.reason, argv[1]));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/manager.sock", argv[1]);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0);
    if (settings()->required) {
        lost_but_required();
        unlink(address.sun_path);
        rmdir(argv[1]);
        return 0;
    }
    registrations();
    busy_port();
    int socket = registers(0);
    messages(socket);
    ignored_messages(socket);
    ends(socket);
    CHECK(frozen >= 3);
    is_killed(registers(1));
    unlink(address.sun_path);
    CHECK(setenv("TESSERA_REQUIRE", "1", 1) == 0 && unsetenv("TESSERA_QUIET") == 0);
    execv("/proc/self/exe", argv);
    CHECK(false);
    return 0;
}
