/* How a client connects to its executors. Threads play the manager, at a socket, and an executor that listens. */
#include "relay/executor/executor_connect.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "session/connection.h"
#include "session/manager.h"
#include "session/settings.h"
#include "tessera_entries.h"

/* How the executor treats a client that connects. */
enum behaviour { SERVES, OTHER_VERSION, OTHER_SIZE, OTHER_ENTRIES, NO_SEGMENT, REFUSES, GARBAGE, LEAVES_ONCE };

static enum behaviour behaviour;
static int managers_end, listening;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct executor_connection connections[TESSERA_MAX_DEVICES];
static char reason[512];
static unsigned asked, visited; /* by one executor_connect() */

static int new_segment(void)
{
    int file = memfd_create("relay", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, sizeof(struct tessera_relay_segment)) == 0);
    struct tessera_relay_segment *segment = mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(segment != MAP_FAILED);
    segment->magic = TESSERA_RELAY_MAGIC;
    segment->version = TESSERA_RELAY_VERSION + (behaviour == OTHER_VERSION);
    segment->segment_bytes = sizeof *segment;
    segment->ring_bytes = TESSERA_RELAY_RING_BYTES;
    segment->slots = TESSERA_RELAY_SLOTS;
    segment->words = TESSERA_RELAY_WORDS;
    segment->entries = TESSERA_ENTRY_COUNT + (behaviour == OTHER_ENTRIES);
    segment->executor_pid = visited;
    munmap(segment, sizeof *segment);
    return file;
}

static void serve(int client, uint32_t device)
{
    struct tessera_relay_welcome welcome = {.segment_bytes = sizeof(struct tessera_relay_segment) +
                                                             (behaviour == OTHER_SIZE)};
    struct tessera_refused refused = {.reason = "it is full"};
    int segment = new_segment();
    if (behaviour == REFUSES)
        CHECK(connection_send(client, &refused.head, TESSERA_MSG_REFUSED, sizeof refused, device) == 0);
    else if (behaviour == GARBAGE)
        CHECK(send(client, "??", 2, 0) == 2);
    else if (behaviour != LEAVES_ONCE || visited > 1)
        CHECK(connection_send_with(client, &welcome.head, TESSERA_MSG_RELAY_WELCOME, sizeof welcome, device,
                                   behaviour == NO_SEGMENT ? -1 : segment) == 0);
    close(segment);
}

static void *executor(void *unused)
{
    for (;;) {
        _Alignas(8) char buffer[4096];
        int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC), descriptor = -1;
        if (client < 0)
            return unused;
        int size = connection_receive_with(client, buffer, &descriptor, 10000);
        const struct tessera_relay_hello *hello = (const struct tessera_relay_hello *)(const void *)buffer;
        CHECK(connection_valid(buffer, size) && hello->head.type == TESSERA_MSG_RELAY_HELLO);
        CHECK(hello->token[0] == 'T' && hello->token[1] == hello->head.device);
        visited++;
        serve(client, hello->head.device);
        if (behaviour != SERVES) /* else it stays until the process ends */
            close(client);
    }
}

static struct tessera_relay_answer answer_for(unsigned device, unsigned count)
{
    struct tessera_relay_answer answer = {.head.device = device, .count = count, .token = {'T', (uint8_t)device}};
    memcpy(answer.socket, address.sun_path, sizeof answer.socket);
    return answer;
}

/* Names `count` executors, the last first; all are the same one. 0: answers that there is none, and why. */
static void *manager(void *count)
{
    for (;;) {
        _Alignas(8) char buffer[4096];
        int descriptor = -1, size = connection_receive_with(managers_end, buffer, &descriptor, 10000);
        if (size == 0)
            return NULL;
        CHECK(connection_valid(buffer, size) &&
              ((const struct tessera_message *)(const void *)buffer)->type == TESSERA_MSG_RELAY_ASK);
        asked++;
        struct tessera_relay_answer none = {.count = 0, .reason = "no GPU is shared"};
        struct tessera_relay_answer wait = {.count = TESSERA_RELAY_WAIT, .reason = "it is being started"};
        executor_connect_answered(&wait);
        usleep(20000); /* WAIT is not an answer */
        if (*(unsigned *)count == 0)
            executor_connect_answered(&none);
        for (unsigned device = *(unsigned *)count; device-- > 0;) {
            struct tessera_relay_answer answer = answer_for(device, *(unsigned *)count);
            executor_connect_answered(&answer);
        }
    }
}

/* Connects to `count` executors that behave like this. Returns the number that serve. */
static unsigned connect_to(enum behaviour how, unsigned count)
{
    pthread_t threads[2];
    int ends[2];
    behaviour = how;
    asked = visited = 0;
    memset(reason, 0, sizeof reason);
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    managers_end = ends[1];
    manager_set_socket(ends[0]);
    listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(listening >= 0 && bind(listening, (struct sockaddr *)&address, sizeof address) == 0 &&
          listen(listening, TESSERA_MAX_DEVICES) == 0);
    CHECK(pthread_create(&threads[0], NULL, manager, &count) == 0);
    CHECK(pthread_create(&threads[1], NULL, executor, NULL) == 0);
    unsigned served = executor_connect(connections, reason, sizeof reason);
    for (unsigned i = 0; i < served; i++) {
        CHECK(connections[i].answer.head.device == i &&
              connections[i].segment->segment_bytes == sizeof(struct tessera_relay_segment));
        executor_disconnect(&connections[i]);
        CHECK(connections[i].socket == -1 && !connections[i].segment);
    }
    manager_set_socket(-1);
    shutdown(listening, SHUT_RDWR);
    CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
    close(listening);
    close(managers_end);
    unlink(address.sun_path);
    return served;
}

/* Each case runs in a process of its own, since a process connects only once. */
static void check_in_child(enum behaviour how, unsigned count, unsigned served, unsigned visits, const char *why)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(HANGS_S);
        CHECK(connect_to(how, count) == served && visited == visits);
        if (!strstr(reason, why))
            fprintf(stderr, "executor_connect: the reason is \"%s\", not \"%s\"\n", reason, why);
        CHECK(strstr(reason, why));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void without_manager(void)
{
    CHECK(executor_connect(connections, reason, sizeof reason) == 0);
    CHECK(strstr(reason, "so there is no executor"));
}

/* The settings are read before main(). */
static void ensure_settings(char **arguments)
{
    if (settings()->quiet)
        return;
    setenv("TESSERA_QUIET", "1", 1);
    execv("/proc/self/exe", arguments);
    CHECK(!"executed again");
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/tessera-connect-%d.sock", (int)getpid());
    without_manager();
    check_in_child(SERVES, 1, 1, 1, "");
    check_in_child(SERVES, 3, 3, 3, ""); /* in the order of the devices */
    check_in_child(SERVES, 0, 0, 0, "no executor for this program: no GPU is shared");
    check_in_child(LEAVES_ONCE, 1, 1, 2, ""); /* the manager is asked again */
    check_in_child(OTHER_VERSION, 1, 0, 1, "another version of the relay");
    check_in_child(OTHER_SIZE, 1, 0, 1, "a segment of another size");
    check_in_child(OTHER_ENTRIES, 1, 0, 1, "another list of driver entries");
    check_in_child(NO_SEGMENT, 1, 0, 1, "something other than a welcome");
    check_in_child(REFUSES, 1, 0, 1, "it is full");
    check_in_child(GARBAGE, 1, 0, 1, "malformed");
    return 0;
}
