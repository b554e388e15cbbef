/*
 * The protocol between exporters and openers of memory (direct/ipc/handle.h), over real sockets, without a driver: descriptors
 * arrive, and messages of a broken or foreign process open nothing and leave nothing open.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "direct/chunks/chunks.h"
#include "driver/clock.h"
#include "direct/ipc/client.h"
#include "direct/ipc/server.h"
#include "session/report.h"

#define BOUND_NS 20000000000ULL
#define CHUNKS 20
#define NOBODY 65534

static CUresult exchange_mode(void *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

/* Answers for memory of CHUNKS chunks. The file of each chunk has as many bytes as its number. */
static void answer_request(const struct ipc_request *request, struct ipc_answer *answer, int descriptors[IPC_BATCH])
{
    *answer = (struct ipc_answer){.magic = IPC_MAGIC,
                                  .chunks = CHUNKS,
                                  .bytes = (uint64_t)CHUNKS * CHUNK_UNIT,
                                  .offset = 4096,
                                  .allocation_bytes = 8192};
    if (request->handle.id != 7)
        answer->status = CUDA_ERROR_INVALID_HANDLE;
    while (answer->status == 0 && answer->sent < IPC_BATCH && request->first + answer->sent < CHUNKS) {
        int file = memfd_create("chunk", MFD_CLOEXEC);
        CHECK(file >= 0 && ftruncate(file, request->first + answer->sent) == 0);
        answer->chunk_bytes[answer->sent] = CHUNK_UNIT;
        descriptors[answer->sent++] = file;
    }
}

static int open_files(void)
{
    int files = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder))
        files++;
    closedir(folder);
    return files;
}

/* Asks for all chunks; 0, or the error. */
static CUresult fetch(const struct ipc_handle *handle, uint64_t wait_ns)
{
    struct ipc_client client;
    struct ipc_answer answer = {.chunks = 1};
    int descriptors[IPC_BATCH];
    CUresult result = ipc_client_open(&client, handle, monotonic_ns() + wait_ns);
    for (uint32_t first = 0; result == CUDA_SUCCESS && first < answer.chunks; first += answer.sent) {
        result = ipc_client_ask(&client, first, &answer, descriptors);
        for (uint32_t i = 0; result == CUDA_SUCCESS && i < answer.sent; i++) {
            struct stat file;
            CHECK(fstat(descriptors[i], &file) == 0 && file.st_size == first + i);
            CHECK(fcntl(descriptors[i], F_GETFD) & FD_CLOEXEC);
            close(descriptors[i]);
        }
    }
    ipc_client_close(&client);
    return result;
}

/* Waits until the server serves again: it notices a closed socket within a second. */
static void await_served(const struct ipc_handle *handle)
{
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (fetch(handle, BOUND_NS) != CUDA_SUCCESS) {
        CHECK(monotonic_ns() < until_ns);
        usleep(10000);
    }
}

static void await_end(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void served(struct ipc_handle *handle)
{
    CHECK(ipc_server_start(handle, answer_request));
    CHECK(ipc_server_is(handle));
    handle->id = 7;
    int before = open_files();
    CHECK(fetch(handle, BOUND_NS) == CUDA_SUCCESS);
    handle->id = 8;
    CHECK(fetch(handle, BOUND_NS) == CUDA_ERROR_INVALID_HANDLE);
    handle->id = 7;
    struct ipc_client client; /* a malformed request ends this connection, and no other */
    struct ipc_answer answer;
    int descriptors[IPC_BATCH];
    CHECK(ipc_client_open(&client, handle, monotonic_ns() + BOUND_NS) == CUDA_SUCCESS);
    CHECK(send(client.socket, "rubbish", 7, MSG_NOSIGNAL) == 7);
    CUresult ended = ipc_client_ask(&client, 0, &answer, descriptors);
    CHECK(ended == CUDA_ERROR_INVALID_HANDLE);
    ipc_client_close(&client);
    CHECK(fetch(handle, BOUND_NS) == CUDA_SUCCESS);
    for (uint64_t until_ns = monotonic_ns() + BOUND_NS; open_files() > before;
         usleep(1000)) /* the server closes its side */
        CHECK(monotonic_ns() < until_ns);
}

static void misnamed(const struct ipc_handle *handle)
{
    struct ipc_handle other = *handle;
    struct tessera_value_64 value;
    other.server++;
    CHECK(fetch(&other, BOUND_NS) == CUDA_ERROR_INVALID_HANDLE && !ipc_server_is(&other));
    memcpy(&value, handle, sizeof value);
    CHECK(ipc_handle_ours(&value, &other) && memcmp(&other, handle, sizeof other) == 0);
    for (size_t at = 0; at < sizeof(uint64_t) + sizeof(uint32_t); at++) { /* magic, version */
        memcpy(&value, handle, sizeof value);
        ((unsigned char *)&value)[at] ^= 1;
        CHECK(!ipc_handle_ours(&value, &other));
    }
}

/* A process listens under another process's name, to be taken for it. */
static void squatted(const struct ipc_handle *handle)
{
    struct ipc_handle claimed = *handle;
    struct sockaddr_un address;
    claimed.pid = 1;
    socklen_t length = ipc_address(&claimed, &address);
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(s >= 0 && bind(s, (struct sockaddr *)&address, length) == 0 && listen(s, 4) == 0);
    CHECK(fetch(&claimed, BOUND_NS) == CUDA_ERROR_INVALID_HANDLE);
    close(s);
}

/* Only root can become another user. */
static void foreign(const struct ipc_handle *handle)
{
    if (geteuid() != 0) {
        printf("ipc_wire: another user's request: skipped, needs root\n");
        return;
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct sockaddr_un address;
        socklen_t length = ipc_address(handle, &address);
        struct ipc_request request = {.handle = *handle};
        char answer[sizeof(struct ipc_answer)];
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        alarm(HANGS_S);
        CHECK(setuid(NOBODY) == 0);
        CHECK(fetch(handle, BOUND_NS) == CUDA_ERROR_INVALID_HANDLE); /* it does not trust that server, either */
        CHECK(connect(s, (struct sockaddr *)&address, length) == 0);
        send(s, &request, sizeof request, MSG_NOSIGNAL); /* the server may have closed it already */
        CHECK(recv(s, answer, sizeof answer, 0) <= 0);
        _exit(0);
    }
    await_end(child);
}

/* A child does not have its parent's server; its own server has another name. */
static void forked(const struct ipc_handle *handle)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct ipc_handle own;
        ipc_server_forked();
        CHECK(!ipc_server_is(handle));
        CHECK(fetch(handle, BOUND_NS) == CUDA_SUCCESS); /* the parent's */
        CHECK(ipc_server_start(&own, answer_request) && own.server != handle->server && own.pid == (uint32_t)getpid());
        own.id = 7;
        CHECK(fetch(&own, BOUND_NS) == CUDA_SUCCESS);
        _exit(0);
    }
    await_end(child);
}

/* A program that closes all descriptors also closes the server's, and may open its own under those numbers. */
static void closed_by_the_program(const struct ipc_handle *handle)
{
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    await_served(handle);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    await_served(handle);
}

/* Answers of a false exporter. */
enum lie {
    SILENT,
    HANGS_UP,
    SHORT,
    WRONG_MAGIC,
    NO_CHUNKS,
    MORE_THAN_CAME,
    TOO_LARGE,
    BEYOND,
    NOT_PAGES,
    PAST_THE_END,
    LIES
};

static void lie_once(int listener, enum lie lie)
{
    struct ipc_request request = {.first = 0};
    struct ipc_answer answer;
    int files[IPC_BATCH];
    int s = accept(listener, NULL, NULL);
    CHECK(s >= 0 && recv(s, &request, sizeof request, 0) == (ssize_t)sizeof request);
    request.handle.id = 7;
    answer_request(&request, &answer, files);
    answer.magic += lie == WRONG_MAGIC;
    answer.chunks = lie == NO_CHUNKS ? 0 : answer.chunks;
    answer.bytes = lie == TOO_LARGE ? UINT64_MAX : answer.bytes;
    answer.offset = lie == BEYOND ? answer.bytes : answer.offset;
    answer.chunk_bytes[3] = lie == NOT_PAGES ? 4096 : lie == PAST_THE_END ? answer.bytes + CHUNK_UNIT : CHUNK_UNIT;
    unsigned given = lie == MORE_THAN_CAME ? 3 : answer.sent;
    union {
        char bytes[CMSG_SPACE(IPC_BATCH * sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    struct iovec data = {&answer, lie == SHORT ? sizeof answer - 8 : sizeof answer};
    struct msghdr packet = {.msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = CMSG_SPACE(given * sizeof(int))};
    control.head = (struct cmsghdr){CMSG_LEN(given * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), files, given * sizeof(int));
    if (lie == SILENT)
        CHECK(recv(s, &request, sizeof request, 0) == 0); /* until the other side gives up */
    else if (lie != HANGS_UP)
        CHECK(sendmsg(s, &packet, MSG_NOSIGNAL) > 0);
    for (unsigned i = 0; i < answer.sent; i++)
        close(files[i]);
    close(s);
}

static void lied_to(void)
{
    struct ipc_handle handle = {.magic = IPC_MAGIC, .version = IPC_VERSION, .server = 99, .id = 7};
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    handle.pid = (uint32_t)(child ? child : getpid());
    if (child == 0) {
        struct sockaddr_un address;
        socklen_t length = ipc_address(&handle, &address);
        int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        alarm(HANGS_S);
        CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 4) == 0);
        CHECK(write(ready[1], "r", 1) == 1);
        for (enum lie lie = 0; lie < LIES; lie++)
            lie_once(listener, lie);
        _exit(0);
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    int before = open_files();
    for (enum lie lie = 0; lie < LIES; lie++) {
        CUresult result = fetch(&handle, lie == SILENT ? 50000000ULL : BOUND_NS);
        CHECK(result == (lie == SILENT ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_HANDLE));
        CHECK(open_files() == before);
    }
    await_end(child);
    CHECK(fetch(&handle, BOUND_NS) == CUDA_ERROR_INVALID_HANDLE); /* it has ended */
}

int main(void)
{
    struct ipc_handle handle;
    tessera_real[ENTRY_cuThreadExchangeStreamCaptureMode] = (void *)exchange_mode;
    lied_to();
    served(&handle);
    misnamed(&handle);
    squatted(&handle);
    foreign(&handle);
    forked(&handle);
    closed_by_the_program(&handle);
    printf("ipc_wire: ok\n");
    return 0;
}
