/* Questions on an executor's socket, with descriptors both ways: answers that come, come late, are something else, or never come. */
#include "relay/executor/fd_request.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"
#include "session/connection.h"

/* What the peer does with the next questions. */
static enum { ECHO, LATE, ANOTHER_TYPE, SHORT, GARBAGE, CLOSES, SILENT } peer_does;
static int peer_socket;
static struct tessera_relay_segment *segment;
static struct relay_link *asked = &relay_links[0];

/* Answers an IMAGE with IMAGE_TAKEN: the number is offset + bytes, and the descriptor goes back. */
static void answer(const struct tessera_image *image, int descriptor)
{
    struct tessera_image_taken taken = {.number = image->offset + image->bytes};
    unsigned char nonsense[sizeof taken];
    memset(nonsense, 0xee, sizeof nonsense);
    switch (peer_does) {
    case LATE:
        usleep(1200000); /* longer than the interval between checks of the link */
        /* fall through */
    case ECHO:
        CHECK(connection_send_with(peer_socket, &taken.head, TESSERA_MSG_IMAGE_TAKEN, sizeof taken, 0, descriptor) == 0);
        break;
    case ANOTHER_TYPE:
        CHECK(connection_send(peer_socket, &taken.head, TESSERA_MSG_PINNED, sizeof taken, 0) == 0);
        break;
    case SHORT:
        CHECK(connection_send(peer_socket, &taken.head, TESSERA_MSG_IMAGE_TAKEN, sizeof taken - 8, 0) == 0);
        break;
    case GARBAGE:
        CHECK(send(peer_socket, nonsense, sizeof nonsense, 0) == (ssize_t)sizeof nonsense);
        break;
    case CLOSES:
        shutdown(peer_socket, SHUT_RDWR);
        break;
    case SILENT:
        usleep(100000);
        __atomic_store_n(&segment->ended, 1, __ATOMIC_RELEASE);
        break;
    }
}

static void *peer(void *unused)
{
    _Alignas(8) char buffer[FD_REQUEST_ANSWER_BYTES];
    for (;;) {
        int descriptor = -1, got = connection_receive_with(peer_socket, buffer, &descriptor, 60000);
        if (got <= 0)
            return unused;
        const struct tessera_image *image = (const struct tessera_image *)(const void *)buffer;
        CHECK(connection_valid(buffer, got) && image->head.type == TESSERA_MSG_IMAGE && got == (int)sizeof *image &&
              image->head.device == 6);
        answer(image, descriptor);
        if (descriptor >= 0)
            close(descriptor);
    }
}

static pthread_t peer_thread;

static void begin(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    peer_socket = ends[1];
    segment->ended = 0;
    segment->executor_heartbeat_ns = monotonic_ns();
    *asked = (struct relay_link){.segment = segment, .number = 6, .socket = ends[0]};
    CHECK(pthread_create(&peer_thread, NULL, peer, NULL) == 0);
}

static void end(void)
{
    close(asked->socket);
    pthread_join(peer_thread, NULL);
    close(peer_socket);
}

static CUresult ask(uint64_t offset, uint64_t bytes, int sent, uint64_t *number, int *descriptor)
{
    struct tessera_image image = {.offset = offset, .bytes = bytes};
    const struct fd_request request = {&image.head, TESSERA_MSG_IMAGE,       sizeof image,
                                       sent,        TESSERA_MSG_IMAGE_TAKEN, sizeof(struct tessera_image_taken)};
    _Alignas(8) char buffer[FD_REQUEST_ANSWER_BYTES];
    *descriptor = -1;
    CUresult result = fd_request_send(asked, &request, buffer, descriptor);
    *number = ((const struct tessera_image_taken *)(const void *)buffer)->number;
    return result;
}

static void answered(void)
{
    struct stat ours, theirs;
    uint64_t number;
    int file = memfd_create("asked", MFD_CLOEXEC), descriptor;
    begin();
    CHECK(ask(40, 2, -1, &number, &descriptor) == CUDA_SUCCESS && number == 42 && descriptor == -1);
    CHECK(ask(1ULL << 40, 7, file, &number, &descriptor) == CUDA_SUCCESS && number == (1ULL << 40 | 7));
    CHECK(descriptor >= 0 && descriptor != file && fstat(file, &ours) == 0 && fstat(descriptor, &theirs) == 0);
    CHECK(ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev);
    close(descriptor);
    close(file);
    peer_does = LATE;
    uint64_t from_ns = monotonic_ns();
    CHECK(ask(1, 1, -1, &number, &descriptor) == CUDA_SUCCESS && number == 2 && monotonic_ns() - from_ns > 1000000000ULL);
    peer_does = ECHO;
    CHECK(!asked->lost);
    end();
}

static void *ask_many(void *which)
{
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t number;
        int descriptor;
        CHECK(ask((uintptr_t)which, i, -1, &number, &descriptor) == CUDA_SUCCESS && number == (uintptr_t)which + i);
    }
    return NULL;
}

/* Every thread gets the answer to its own request. */
static void by_several_threads(void)
{
    pthread_t threads[4];
    begin();
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, ask_many, (void *)(i * 1000003)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    end();
}

/* A wrong or missing answer ends the link: a late one could be taken for the next request's. */
static void not_answered(void)
{
    for (peer_does = ANOTHER_TYPE; peer_does <= SILENT; peer_does++) {
        uint64_t number, from_ns = monotonic_ns();
        int descriptor;
        begin();
        CHECK(ask(1, 1, -1, &number, &descriptor) == CUDA_ERROR_CONTEXT_IS_DESTROYED && descriptor == -1);
        CHECK(asked->lost && relay_link_state(asked) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
        CHECK(monotonic_ns() - from_ns < HANGS_S / 10 * 1000000000ULL);
        end();
    }
}

int main(void)
{
    alarm(HANGS_S);
    segment = mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(segment != MAP_FAILED);
    answered();
    by_several_threads();
    not_answered();
    return 0;
}
