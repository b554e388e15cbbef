/*
 * A process that has one kind of memory and stands still, for somebody to take it off the GPU and bring it back by the driver's
 * checkpoint; then it says whether it still has what it had.
 *
 *   checkpointed KIND    "ready" when it stands still; after a line on stdin, one JSON object
 *   checkpointed         the kinds
 *
 * Where memory is shared, the second process is this program again, with the arguments "peer FD KIND". Natively of interest.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_constants.h"
#include "driver.h"

enum { BYTES = 64 << 20, PLACES = 64, BEFORE = 0x5a, AFTER = 0xa6, DESCRIPTOR_HANDLE = 1, ON_DEVICE = 1 };

typedef struct {
    char bytes[64];
} Opaque;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
struct properties {
    int type, handle_types, location_type, location;
    void *unused;
    unsigned char flags[8];
};
struct pool_properties {
    int type, handle_types, location_type, location;
    void *unused;
    size_t most;
    unsigned char reserved[56];
};
struct access {
    int location_type, location, flags;
};
extern int cuIpcGetMemHandle(Opaque *, CUdeviceptr);
extern int cuIpcOpenMemHandle_v2(CUdeviceptr *, Opaque, unsigned);
extern int cuIpcCloseMemHandle(CUdeviceptr);
extern int cuIpcGetEventHandle(Opaque *, CUevent);
extern int cuIpcOpenEventHandle(CUevent *, Opaque);
extern int cuEventDestroy_v2(CUevent);
extern int cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
extern int cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
extern int cuMemFreeAsync(CUdeviceptr, CUstream);
extern int cuMemPoolCreate(CUmemoryPool *, const struct pool_properties *);
extern int cuMemPoolDestroy(CUmemoryPool);
extern int cuMemPoolExportToShareableHandle(void *, CUmemoryPool, int, unsigned long long);
extern int cuMemPoolImportFromShareableHandle(CUmemoryPool *, void *, int, unsigned long long);
extern int cuMemPoolExportPointer(Opaque *, CUdeviceptr);
extern int cuMemPoolImportPointer(CUdeviceptr *, CUmemoryPool, Opaque *);
extern int cuMemPoolSetAccess(CUmemoryPool, const struct access *, size_t);
extern int cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
extern int cuMemCreate(uint64_t *, size_t, const struct properties *, unsigned long long);
extern int cuMemRelease(uint64_t);
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
extern int cuMemAddressFree(CUdeviceptr, size_t);
extern int cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, unsigned long long);
extern int cuMemUnmap(CUdeviceptr, size_t);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);
extern int cuMemExportToShareableHandle(void *, uint64_t, int, unsigned long long);
extern int cuMemImportFromShareableHandle(uint64_t *, void *, int);

enum what { MALLOC, ASYNC, MANAGED, REGISTERED, VMM, EXPORTABLE, IPC, EVENT, POOL };
/* Alone; alone, with a handle that nobody opens; gives memory that another process has too; takes another's. */
enum role { ALONE, HANDLE, GIVES, TAKES };

static const struct kind {
    const char *name;
    enum what what;
    enum role role;
    bool dropped; /* given up before the process stands still */
} kinds[] = {
    {"cuMemAlloc", MALLOC, ALONE, false},
    {"cuMemAllocAsync", ASYNC, ALONE, false},
    {"managed memory", MANAGED, ALONE, false},
    {"registered host memory", REGISTERED, ALONE, false},
    {"cuMemCreate", VMM, ALONE, false},
    {"cuMemCreate exportable", EXPORTABLE, ALONE, false},
    {"cuMemCreate exported", EXPORTABLE, HANDLE, false},
    {"cuMemCreate that another process imported", EXPORTABLE, GIVES, false},
    {"cuMemCreate that another process imported given up here", EXPORTABLE, GIVES, true},
    {"import", EXPORTABLE, TAKES, false},
    {"import given up", EXPORTABLE, TAKES, true},
    {"IPC handle that nobody opened", IPC, HANDLE, false},
    {"IPC memory that another process opened", IPC, GIVES, false},
    {"opened IPC memory", IPC, TAKES, false},
    {"opened IPC memory closed again", IPC, TAKES, true},
    {"IPC event that another process opened", EVENT, GIVES, false},
    {"opened IPC event", EVENT, TAKES, false},
    {"opened IPC event destroyed again", EVENT, TAKES, true},
    {"pool exportable", POOL, ALONE, false},
    {"pool that another process imported", POOL, GIVES, false},
    {"imported pool", POOL, TAKES, false},
    {"imported pool given up", POOL, TAKES, true},
};

/* What stands for a memory elsewhere; a descriptor goes beside it. */
struct message {
    char order; /* 'h': here it is; 'w': is it full of AFTER?; 'e': end */
    int answer;
    Opaque opaque;
};

static struct {
    CUdeviceptr pointer;
    uint64_t handle;
    CUmemoryPool pool;
    CUevent event;
    int descriptor;
    Opaque opaque;
} own = {.descriptor = -1};

static CUstream stream;
static const struct access both_ways = {ON_DEVICE, 0, 3};

static int send_with(int to, const struct message *message, int descriptor)
{
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)message, sizeof *message};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        header.msg_control = room;
        header.msg_controllen = sizeof room;
        struct cmsghdr *beside = CMSG_FIRSTHDR(&header);
        *beside = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(beside), &descriptor, sizeof descriptor);
    }
    return sendmsg(to, &header, MSG_NOSIGNAL) == (ssize_t)sizeof *message ? 0 : -1;
}

static int receive_with(int from, struct message *message, int *descriptor)
{
    char room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {message, sizeof *message};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (recvmsg(from, &header, 0) != (ssize_t)sizeof *message)
        return -1;
    struct cmsghdr *beside = CMSG_FIRSTHDR(&header);
    *descriptor = -1;
    if (beside && beside->cmsg_type == SCM_RIGHTS)
        memcpy(descriptor, CMSG_DATA(beside), sizeof *descriptor);
    return 0;
}

static int set(int value)
{
    int result = own.event ? cuEventRecord(own.event, stream)
                           : cuMemsetD8Async(own.pointer, (unsigned char)value, BYTES, stream);
    return result ? result : cuStreamSynchronize(stream);
}

/* 0: it is full of the value, at places spread over all of it; -1: it is not; else the driver's error. */
static int has(int value)
{
    if (own.event)
        return cuEventSynchronize(own.event);
    for (int i = 0; i < PLACES; i++) {
        unsigned char byte = (unsigned char)~value;
        int result = cuMemcpyDtoH_v2(&byte, own.pointer + (size_t)(BYTES - 1) / (PLACES - 1) * (size_t)i, 1);
        if (result || byte != (unsigned char)value)
            return result ? result : -1;
    }
    return 0;
}

static void map_own(void)
{
    CHECK(cuMemAddressReserve(&own.pointer, BYTES, 0, 0, 0));
    CHECK(cuMemMap(own.pointer, BYTES, 0, own.handle, 0));
    CHECK(cuMemSetAccess(own.pointer, BYTES, &both_ways, 1));
}

static void make(enum what what)
{
    struct properties properties = {ON_DEVICE, what == EXPORTABLE ? DESCRIPTOR_HANDLE : 0, ON_DEVICE, 0, NULL, {0}};
    struct pool_properties of_pool = {ON_DEVICE, DESCRIPTOR_HANDLE, ON_DEVICE, 0, NULL, 0, {0}};
    void *host = NULL;
    switch (what) {
    case MALLOC:
    case IPC:
        CHECK(cuMemAlloc_v2(&own.pointer, BYTES));
        break;
    case ASYNC:
        CHECK(cuMemAllocAsync(&own.pointer, BYTES, stream));
        break;
    case MANAGED:
        CHECK(cuMemAllocManaged(&own.pointer, BYTES, 1));
        break;
    case REGISTERED:
        if (posix_memalign(&host, 1 << 21, BYTES))
            exit(1);
        memset(host, 0, BYTES);
        CHECK(cuMemHostRegister_v2(host, BYTES, 2));
        CHECK(cuMemHostGetDevicePointer_v2(&own.pointer, host, 0));
        break;
    case VMM:
    case EXPORTABLE:
        CHECK(cuMemCreate(&own.handle, BYTES, &properties, 0));
        map_own();
        break;
    case EVENT:
        CHECK(cuEventCreate(&own.event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
        break;
    case POOL:
        CHECK(cuMemPoolCreate(&own.pool, &of_pool));
        CHECK(cuMemAllocFromPoolAsync(&own.pointer, BYTES, own.pool, stream));
        break;
    }
}

/* Its name for another process. */
static void name_it(enum what what)
{
    if (what == EXPORTABLE)
        CHECK(cuMemExportToShareableHandle(&own.descriptor, own.handle, DESCRIPTOR_HANDLE, 0));
    if (what == IPC)
        CHECK(cuIpcGetMemHandle(&own.opaque, own.pointer));
    if (what == EVENT)
        CHECK(cuIpcGetEventHandle(&own.opaque, own.event));
    if (what == POOL) {
        CHECK(cuMemPoolExportToShareableHandle(&own.descriptor, own.pool, DESCRIPTOR_HANDLE, 0));
        CHECK(cuMemPoolExportPointer(&own.opaque, own.pointer));
    }
}

static void take(enum what what, int descriptor, Opaque opaque)
{
    if (what == EXPORTABLE) {
        CHECK(cuMemImportFromShareableHandle(&own.handle, (void *)(intptr_t)descriptor, DESCRIPTOR_HANDLE));
        map_own();
    }
    if (what == IPC)
        CHECK(cuIpcOpenMemHandle_v2(&own.pointer, opaque, 1));
    if (what == EVENT)
        CHECK(cuIpcOpenEventHandle(&own.event, opaque));
    if (what == POOL) {
        CHECK(cuMemPoolImportFromShareableHandle(&own.pool, (void *)(intptr_t)descriptor, DESCRIPTOR_HANDLE, 0));
        CHECK(cuMemPoolSetAccess(own.pool, &both_ways, 1));
        CHECK(cuMemPoolImportPointer(&own.pointer, own.pool, &opaque));
    }
    if (descriptor >= 0)
        close(descriptor);
}

static void drop(enum what what)
{
    if (what == EXPORTABLE) {
        CHECK(cuMemUnmap(own.pointer, BYTES));
        CHECK(cuMemRelease(own.handle));
        CHECK(cuMemAddressFree(own.pointer, BYTES));
    }
    if (what == IPC)
        CHECK(cuIpcCloseMemHandle(own.pointer));
    if (what == EVENT)
        CHECK(cuEventDestroy_v2(own.event));
    if (what == POOL) {
        CHECK(cuMemFreeAsync(own.pointer, stream));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemPoolDestroy(own.pool));
    }
    own.event = NULL;
    CHECK(cuMemAlloc_v2(&own.pointer, BYTES));
    CHECK(set(BEFORE));
}

/* One side of what is shared: both have it when this is over. */
static void share(int peer, enum what what, bool gives)
{
    struct message message = {.order = 'h'};
    int descriptor = -1;
    if (gives) {
        make(what);
        CHECK(set(BEFORE));
        name_it(what);
        message.opaque = own.opaque;
        if (send_with(peer, &message, own.descriptor) || receive_with(peer, &message, &descriptor))
            exit(1);
        if (own.descriptor >= 0)
            close(own.descriptor);
        return;
    }
    if (receive_with(peer, &message, &descriptor))
        exit(1);
    take(what, descriptor, message.opaque);
    CHECK(has(BEFORE));
    if (send_with(peer, &message, -1))
        exit(1);
}

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    fprintf(stderr, "no kind %s\n", name);
    exit(2);
}

static int be_peer(int socket, const struct kind *kind)
{
    struct message message;
    int descriptor;
    stream = open_stream();
    share(socket, kind->what, kind->role == TAKES);
    while (receive_with(socket, &message, &descriptor) == 0 && message.order == 'w') {
        message.answer = has(AFTER);
        if (send_with(socket, &message, -1))
            return 1;
    }
    return 0;
}

static pid_t start_peer(const char *program, const char *kind, int *socket)
{
    int ends[2];
    char number[16];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        snprintf(number, sizeof number, "%d", ends[1]);
        execl(program, program, "peer", number, kind, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *socket = ends[0];
    return pid;
}

static const char *said(int result)
{
    const char *name = "?";
    if (result > 0)
        cuGetErrorName(result, &name);
    return result == 0 ? "right" : result < 0 ? "WRONG" : name;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 4 && strcmp(argv[1], "peer") == 0)
        return be_peer(atoi(argv[2]), kind_of(argv[3]));
    for (size_t i = 0; argc != 2 && i < sizeof kinds / sizeof *kinds; i++)
        printf("%s\n", kinds[i].name);
    if (argc != 2)
        return 0;
    const struct kind *kind = kind_of(argv[1]);
    bool shared = kind->role == GIVES || kind->role == TAKES;
    int peer = -1;
    pid_t pid = shared ? start_peer("/proc/self/exe", kind->name, &peer) : 0;
    stream = open_stream();
    if (shared) {
        share(peer, kind->what, kind->role == GIVES);
    } else {
        make(kind->what);
        CHECK(set(BEFORE));
        if (kind->role == HANDLE)
            name_it(kind->what);
    }
    if (kind->dropped)
        drop(kind->what);
    printf("ready\n");
    if (getchar() == EOF)
        return 1;
    int still = has(BEFORE);
    int writes = still == 0 ? set(AFTER) : 0;
    struct message message = {.order = 'w', .answer = -1};
    int descriptor;
    const char *seen = "-";
    if (shared && !kind->dropped && still == 0 && writes == 0)
        seen = send_with(peer, &message, -1) || receive_with(peer, &message, &descriptor) ? "no answer"
                                                                                          : said(message.answer);
    printf("{\"contents\":\"%s\",\"writes\":\"%s\",\"peerSees\":\"%s\"}\n", said(still), said(writes), seen);
    if (shared) {
        close(peer);
        waitpid(pid, NULL, 0);
    }
    return 0;
}
