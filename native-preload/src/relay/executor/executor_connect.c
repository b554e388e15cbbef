#include "relay/executor/executor_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/manager_client.h"
#include "session/connection.h"
#include "relay/wire/relay.h"
#include "session/manager.h"
#include "session/report.h"

#define EXECUTORS_TIMEOUT_S 60 /* a JVM on a loaded machine, and a context on each of several GPUs */
#define LOOK_NS 100000000L
#define WELCOME_TIMEOUT_MS 60000 /* hundreds of new clients on two cores wait for each other */
/* An executor may end between the manager's answer and the visit; the manager then soon names another one. */
#define VISITS 5
#define PAUSE_NS 300000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct tessera_relay_answer answers[TESSERA_MAX_DEVICES];
static uint32_t answered; /* bit i: answers[i] is there */
static uint32_t expected; /* devices in all */
static bool refused;
static char refusal[200];

void executor_connect_answered(const struct tessera_relay_answer *answer)
{
    if (answer->count == TESSERA_RELAY_WAIT) {
        report_line("waits for an executor: %.*s", (int)sizeof answer->reason, answer->reason);
        return;
    }
    pthread_mutex_lock(&lock);
    if (answer->count == 0 || answer->count > TESSERA_MAX_DEVICES) {
        refused = true;
        snprintf(refusal, sizeof refusal, "%.*s", (int)sizeof answer->reason, answer->reason);
    } else {
        answers[answer->head.device] = *answer; /* in range: connection_valid() looked */
        answered |= 1u << answer->head.device;
        expected = answer->count;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Whether the manager has named every executor; if not, `reason` says why. */
static bool await_answers(char *reason, size_t size)
{
    struct timespec begin, now, look;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    bool complete = false;
    pthread_mutex_lock(&lock);
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        clock_gettime(CLOCK_REALTIME, &look); /* the condition's clock */
        complete = expected != 0 && (uint32_t)__builtin_popcount(answered) == expected;
        if (complete || refused || now.tv_sec - begin.tv_sec > EXECUTORS_TIMEOUT_S || !manager_connected())
            break;
        look.tv_nsec += LOOK_NS;
        if (look.tv_nsec >= 1000000000L)
            look = (struct timespec){look.tv_sec + 1, look.tv_nsec - 1000000000L};
        pthread_cond_timedwait(&changed, &lock, &look);
    }
    if (refused)
        snprintf(reason, size, "the manager has no executor for this program: %.190s", refusal);
    else if (!complete)
        snprintf(reason, size,
                 manager_connected() ? "the manager named no executor within %d s"
                                     : "the manager left before it named an executor",
                 EXECUTORS_TIMEOUT_S);
    pthread_mutex_unlock(&lock);
    return complete;
}

static const char *check(const struct tessera_relay_segment *segment)
{
    if (__atomic_load_n(&segment->version, __ATOMIC_ACQUIRE) != TESSERA_RELAY_VERSION ||
        segment->magic != TESSERA_RELAY_MAGIC)
        return "another version of the relay";
    if (segment->segment_bytes != sizeof *segment || segment->ring_bytes != TESSERA_RELAY_RING_BYTES ||
        segment->slots != TESSERA_RELAY_SLOTS || segment->words != TESSERA_RELAY_WORDS)
        return "a segment of another shape";
    if (segment->entries != TESSERA_ENTRY_COUNT)
        return "another list of driver entries";
    return NULL;
}

/* NULL, or why the executor's segment is not available. */
static const char *map_segment(struct executor_connection *connection, int descriptor, uint64_t bytes)
{
    struct statx file;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_SIZE, &file) != 0 || bytes != sizeof *connection->segment ||
        file.stx_size != bytes)
        return "a segment of another size";
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return strerror(errno);
    const char *wrong = check(memory);
    if (wrong) {
        munmap(memory, bytes);
        return wrong;
    }
    /* A child must not write into the parent's ring. */
    madvise(memory, bytes, MADV_DONTFORK);
    connection->segment = memory;
    return NULL;
}

/* Sends the hello and maps the segment: NULL, or why not. `ended`: the executor was gone, and did not refuse. */
static const char *welcome(struct executor_connection *connection, char *text, size_t size, bool *ended)
{
    struct tessera_relay_hello hello;
    memcpy(hello.token, connection->answer.token, sizeof hello.token);
    int status = connection_send(connection->socket, &hello.head, TESSERA_MSG_RELAY_HELLO, sizeof hello,
                                 connection->answer.head.device);
    *ended = status != 0;
    if (status != 0)
        return strerror(-status);
    _Alignas(8) char buffer[4096];
    int descriptor = -1;
    int got = connection_receive_with(connection->socket, buffer, &descriptor, WELCOME_TIMEOUT_MS);
    const struct tessera_message *head = (const struct tessera_message *)buffer;
    const char *wrong = NULL;
    *ended = got == 0 || got == -ECONNRESET;
    if (got <= 0)
        wrong = got == 0 ? "it closed the connection" : strerror(-got);
    else if (!connection_valid(buffer, got))
        wrong = "it sent a malformed message";
    else if (head->type == TESSERA_MSG_REFUSED && got == (int)sizeof(struct tessera_refused))
        wrong = (snprintf(text, size, "%.*s", 232, ((const struct tessera_refused *)(const void *)buffer)->reason),
                 text);
    else if (descriptor == -EMFILE)
        wrong = "no descriptor is left for its segment: raise the limit (ulimit -n)";
    else if (head->type != TESSERA_MSG_RELAY_WELCOME || got != (int)sizeof(struct tessera_relay_welcome) ||
             descriptor < 0)
        wrong = "it sent something other than a welcome";
    else
        wrong = map_segment(connection, descriptor,
                            ((const struct tessera_relay_welcome *)(const void *)buffer)->segment_bytes);
    if (descriptor >= 0)
        close(descriptor);
    return wrong;
}

static bool connect_one(struct executor_connection *connection, char *reason, size_t size, bool *ended)
{
    char path[sizeof connection->answer.socket + 1];
    memcpy(path, connection->answer.socket, sizeof connection->answer.socket);
    path[sizeof connection->answer.socket] = '\0';
    connection->segment = NULL;
    connection->socket = connection_to(path, "");
    char text[240]; /* a REFUSED message has 232 bytes */
    *ended = connection->socket < 0;
    const char *wrong = *ended ? strerror(-connection->socket) : welcome(connection, text, sizeof text, ended);
    if (!wrong)
        return true;
    snprintf(reason, size, "the executor at %.107s does not serve this program: %.239s", path, wrong);
    executor_disconnect(connection);
    return false;
}

void executor_disconnect(struct executor_connection *connection)
{
    if (connection->segment)
        munmap(connection->segment, sizeof *connection->segment);
    if (connection->socket >= 0)
        close(connection->socket);
    connection->segment = NULL;
    connection->socket = -1;
}

static void forget_answers(void)
{
    pthread_mutex_lock(&lock);
    answered = 0;
    expected = 0;
    refused = false;
    pthread_mutex_unlock(&lock);
}

/* Copies the manager's answers, in the order of the devices, and returns their number. */
static unsigned take_answers(struct executor_connection *connections)
{
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        if (answered & 1u << i)
            connections[count++].answer = answers[i];
    pthread_mutex_unlock(&lock);
    return count;
}

/* Connects to all executors and returns their number. 0: failed; `again` says whether to try once more. */
static unsigned visit(struct executor_connection *connections, char *reason, size_t size, bool *again)
{
    *again = false;
    if (!manager_ask_relay()) {
        char why[256];
        manager_client_absence_reason(why, sizeof why);
        snprintf(reason, size, connection_refused(why) ? "%s" : "%s, so there is no executor", why);
        return 0;
    }
    if (!await_answers(reason, size))
        return 0;
    unsigned count = take_answers(connections), i = 0;
    while (i < count && connect_one(&connections[i], reason, size, again))
        i++;
    if (i == count)
        return count;
    while (i > 0)
        executor_disconnect(&connections[--i]);
    return 0;
}

unsigned executor_connect(struct executor_connection *connections, char *reason, size_t size)
{
    bool again = true;
    unsigned count = 0;
    for (int i = 0; i < VISITS && again; i++) {
        if (i > 0) {
            struct timespec pause = {0, PAUSE_NS};
            nanosleep(&pause, NULL);
            forget_answers();
        }
        count = visit(connections, reason, size, &again);
        again = again && count == 0;
    }
    return count;
}
