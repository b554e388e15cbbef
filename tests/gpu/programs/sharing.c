/*
 * Two processes share device memory by legacy IPC: contents both ways, and what the calls cost; as one JSON object on stdout.
 * Then, natively of interest, what physical memory costs with and without the property that lets it be exported.
 *
 *   sharing [MIB]    bytes of the large allocations (default 200: several chunks of plan swap's)
 *
 * The second process is this program again, with the arguments "opener FD": a socket on which the first one orders.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

enum { ROUNDS = 50, SAMPLES = 40, PLACES = 16, CHUNK = 64 << 20 };

typedef struct {
    char bytes[64];
} IpcHandle;
struct properties {
    int type, handle_types, location_type, location;
    void *unused;
    unsigned char flags[8];
};
struct access {
    int location_type, location, flags;
};
extern int cuIpcGetMemHandle(IpcHandle *, CUdeviceptr);
extern int cuIpcOpenMemHandle_v2(CUdeviceptr *, IpcHandle, unsigned);
extern int cuIpcCloseMemHandle(CUdeviceptr);
extern int cuMemGetInfo_v2(size_t *, size_t *);
extern int cuMemGetAddressRange_v2(CUdeviceptr *, size_t *, CUdeviceptr);
extern int cuMemCreate(uint64_t *, size_t, const struct properties *, uint64_t);
extern int cuMemRelease(uint64_t);
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, uint64_t);
extern int cuMemAddressFree(CUdeviceptr, size_t);
extern int cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, uint64_t);
extern int cuMemUnmap(CUdeviceptr, size_t);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);

/* What the opener is to do with a memory, and what it answers. */
enum order { OPEN, HAS, SET, CLOSE, FREE_BYTES, END };
struct message {
    enum order order;
    int value;
    IpcHandle handle;
    CUdeviceptr pointer;
    size_t bytes;
    int64_t took_ns;
};

static CUstream stream;
static int checked;

static void set(CUdeviceptr pointer, int value, size_t bytes)
{
    CHECK(cuMemsetD8Async(pointer, (unsigned char)value, bytes, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* At places spread over all of it, the last byte included. */
static void has(CUdeviceptr pointer, int value, size_t bytes)
{
    for (int i = 0; i < PLACES; i++) {
        size_t at = (bytes - 1) / (PLACES - 1) * (size_t)i;
        unsigned char byte = (unsigned char)~value;
        CHECK(cuMemcpyDtoH_v2(&byte, pointer + (i == PLACES - 1 ? bytes - 1 : at), 1));
        if (byte != (unsigned char)value) {
            fprintf(stderr, "byte %zu of %zu is %d, not %d\n", at, bytes, byte, value);
            exit(1);
        }
        checked++;
    }
}

static void obey(struct message *m)
{
    size_t total;
    CUdeviceptr base = 0;
    int64_t begin = now_ns();
    if (m->order == OPEN) {
        CHECK(cuIpcOpenMemHandle_v2(&m->pointer, m->handle, 1));
        m->took_ns = now_ns() - begin;
        CHECK(cuMemGetAddressRange_v2(&base, &m->bytes, m->pointer));
    } else if (m->order == HAS) {
        has(m->pointer, m->value, m->bytes);
    } else if (m->order == SET) {
        set(m->pointer, m->value, m->bytes);
    } else if (m->order == CLOSE) {
        CHECK(cuIpcCloseMemHandle(m->pointer));
        m->took_ns = now_ns() - begin;
    } else if (m->order == FREE_BYTES) {
        CHECK(cuMemGetInfo_v2(&m->bytes, &total));
    }
}

static int opener(int peer)
{
    struct message m;
    stream = open_stream();
    while (recv(peer, &m, sizeof m, 0) == (ssize_t)sizeof m && m.order != END) {
        obey(&m);
        if (send(peer, &m, sizeof m, 0) != (ssize_t)sizeof m)
            return 1;
    }
    return 0;
}

static struct message ask(int peer, struct message m)
{
    if (send(peer, &m, sizeof m, 0) != (ssize_t)sizeof m || recv(peer, &m, sizeof m, 0) != (ssize_t)sizeof m) {
        fprintf(stderr, "the opener has ended\n");
        exit(1);
    }
    return m;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(int64_t *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static int64_t export_ns(CUdeviceptr pointer, IpcHandle *handle)
{
    int64_t begin = now_ns();
    CHECK(cuIpcGetMemHandle(handle, pointer));
    return now_ns() - begin;
}

/* Exported while the stream still writes; then written by each in turn. */
static void share(int peer, const char *name, size_t bytes)
{
    CUdeviceptr memory;
    struct message m = {.order = OPEN};
    CHECK(cuMemAlloc_v2(&memory, bytes));
    for (int value = 0; value <= 10; value++)
        CHECK(cuMemsetD8Async(memory, (unsigned char)value, bytes, stream));
    printf(",\"%sExportNs\":%lld", name, (long long)export_ns(memory, &m.handle));
    CHECK(cuStreamSynchronize(stream));
    has(memory, 10, bytes);
    m = ask(peer, m);
    printf(",\"%sOpenNs\":%lld", name, (long long)m.took_ns);
    m.bytes = bytes;
    for (m.value = 10; m.value < 14; m.value++) {
        m.order = HAS;
        ask(peer, m);
        m.order = SET;
        ask(peer, (struct message){SET, m.value + 100, m.handle, m.pointer, bytes, 0});
        has(memory, m.value + 100, bytes);
        set(memory, m.value + 1, bytes);
    }
    m.order = HAS;
    ask(peer, m);
    m.order = CLOSE;
    ask(peer, m);
    CHECK(cuMemFree_v2(memory));
}

/* The memory left when memory was opened and closed again and again; and the medians of both. */
static void repeat(int peer, size_t bytes)
{
    static int64_t opened[ROUNDS], closed[ROUNDS];
    struct message before = {.order = FREE_BYTES};
    for (int i = -1; i < ROUNDS; i++) { /* the first one is not counted */
        CUdeviceptr memory;
        struct message m = {.order = OPEN};
        CHECK(cuMemAlloc_v2(&memory, bytes));
        CHECK(cuIpcGetMemHandle(&m.handle, memory));
        m = ask(peer, m);
        int64_t open_ns = m.took_ns;
        m.order = CLOSE;
        m = ask(peer, m);
        CHECK(cuMemFree_v2(memory));
        if (i < 0) {
            before = ask(peer, before);
            continue;
        }
        opened[i] = open_ns;
        closed[i] = m.took_ns;
    }
    struct message after = ask(peer, (struct message){.order = FREE_BYTES});
    printf(",\"openNs\":%lld,\"closeNs\":%lld,\"lostBytes\":%lld", (long long)median(opened, ROUNDS),
           (long long)median(closed, ROUNDS), (long long)before.bytes - (long long)after.bytes);
}

/* One chunk of memory made, mapped, written and given back: medians, without and with the property. */
static void chunks(const char *name, int handle_types)
{
    static int64_t made[SAMPLES], mapped[SAMPLES], written[SAMPLES], gone[SAMPLES];
    struct properties properties = {.type = 1, .handle_types = handle_types, .location_type = 1};
    struct access access = {1, 0, 3};
    CUdeviceptr base;
    CHECK(cuMemAddressReserve(&base, CHUNK, 0, 0, 0));
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t handle;
        int64_t begin = now_ns();
        CHECK(cuMemCreate(&handle, CHUNK, &properties, 0));
        int64_t created = now_ns();
        CHECK(cuMemMap(base, CHUNK, 0, handle, 0));
        CHECK(cuMemSetAccess(base, CHUNK, &access, 1));
        int64_t there = now_ns();
        set(base, i, CHUNK);
        int64_t used = now_ns();
        CHECK(cuMemUnmap(base, CHUNK));
        CHECK(cuMemRelease(handle));
        gone[i] = now_ns() - used;
        written[i] = used - there;
        mapped[i] = there - created;
        made[i] = created - begin;
    }
    CHECK(cuMemAddressFree(base, CHUNK));
    printf(",\"%sCreateNs\":%lld,\"%sMapNs\":%lld,\"%sWriteNs\":%lld,\"%sReleaseNs\":%lld", name,
           (long long)median(made, SAMPLES), name, (long long)median(mapped, SAMPLES), name,
           (long long)median(written, SAMPLES), name, (long long)median(gone, SAMPLES));
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "opener") == 0)
        return opener(atoi(arguments[2]));
    size_t bytes = (count > 1 ? strtoul(arguments[1], NULL, 10) : 200) << 20;
    int ends[2], status = -1;
    char text[16];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return 1;
    pid_t child = fork(); /* before CUDA is used */
    if (child == 0) {
        fcntl(ends[1], F_SETFD, 0);
        snprintf(text, sizeof text, "%d", ends[1]);
        execl("/proc/self/exe", arguments[0], "opener", text, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    stream = open_stream();
    printf("{\"mib\":%zu", bytes >> 20);
    share(ends[0], "first", bytes);
    share(ends[0], "later", bytes);
    share(ends[0], "small", 5000);
    repeat(ends[0], bytes);
    if (send(ends[0], &(struct message){.order = END}, sizeof(struct message), 0) < 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        return 1;
    chunks("plain", 0);
    chunks("exportable", 1);
    printf(",\"checked\":%d}\n", checked);
    return 0;
}
