/*
 * Two processes of one tenant exchange memory and events by CUDA's IPC handles, through the relay.
 *     relay_ipc share        everything that handles can do, and what they cannot
 *     relay_ipc outlive      the owner frees, then dies, while the other has its memory open
 *     relay_ipc churn        many rounds of exporting, opening, closing and freeing
 *     relay_ipc export FILE  writes a handle, says "ready", and keeps the memory until a line comes
 *     relay_ipc open FILE    opens it and says with what result
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { COUNT = 4096, BYTES = COUNT * 4, ROUNDS = 100 };
enum { DISABLE_TIMING = 2, INTERPROCESS = 4 };

static int to_user[2], to_owner[2];
static void *stream;

static void start(void)
{
    void *context;
    alarm(100);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void put(int end, const void *data, size_t bytes)
{
    CHECK(write(end, data, bytes) == (ssize_t)bytes);
}

static void get(int end, void *data, size_t bytes)
{
    CHECK(read(end, data, bytes) == (ssize_t)bytes);
}

static void step(int end)
{
    put(end, "", 1);
}

static void await(int end)
{
    char byte;
    get(end, &byte, 1);
}

static void write_value(CUdeviceptr memory, unsigned value)
{
    OKAY(cuMemsetD32Async(memory, value, COUNT, stream));
}

static void expect(CUdeviceptr memory, unsigned value)
{
    static unsigned got[COUNT];
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemcpyDtoH_v2(got, memory, BYTES));
    for (int i = 0; i < COUNT; i++)
        EQUAL(value, got[i]);
}

struct shared {
    CUipcMemHandle memory;
    CUipcEventHandle event;
    CUdeviceptr address;
};

static void share_owner(void)
{
    struct shared shared;
    CUipcMemHandle again;
    CUdeviceptr pooled, opened;
    void *event, *plain, *timed;
    OKAY(cuMemAlloc_v2(&shared.address, BYTES));
    OKAY(cuMemAllocAsync(&pooled, BYTES, stream));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&again, pooled));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&again, 0x7777));
    OKAY(cuMemFreeAsync(pooled, stream));
    OKAY(cuIpcGetMemHandle(&shared.memory, shared.address));
    OKAY(cuIpcGetMemHandle(&again, shared.address + 100)); /* the allocation that holds it */
    EQUAL(0, memcmp(&again, &shared.memory, sizeof again));
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&opened, again, 1));
    OKAY(cuEventCreate(&plain, DISABLE_TIMING));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&shared.event, plain));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&timed, INTERPROCESS));
    OKAY(cuEventCreate(&event, INTERPROCESS | DISABLE_TIMING));
    OKAY(cuIpcGetEventHandle(&shared.event, event));
    write_value(shared.address, 11);
    OKAY(cuEventRecord(event, stream));
    put(to_user[1], &shared, sizeof shared);
    await(to_owner[0]); /* the other has written and recorded */
    OKAY(cuStreamWaitEvent(stream, event, 0));
    expect(shared.address, 22);
    OKAY(cuEventSynchronize(event));
    OKAY(cuEventDestroy_v2(event)); /* the other has it still */
    step(to_user[1]);
    await(to_owner[0]);
    OKAY(cuMemFree_v2(shared.address));
    OKAY(cuEventDestroy_v2(plain));
}

static void share_user(void)
{
    struct shared shared, spoilt;
    CUdeviceptr memory, again, size = 0;
    void *event, *second;
    get(to_user[0], &shared, sizeof shared);
    spoilt = shared;
    spoilt.memory.bytes[20] ^= 1;
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenMemHandle_v2(&memory, spoilt.memory, 1));
    spoilt = shared;
    spoilt.memory.bytes[33] ^= 1; /* its size */
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenMemHandle_v2(&memory, spoilt.memory, 1));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenMemHandle_v2(&memory, *(CUipcMemHandle *)&shared.event, 1));
    memset(&spoilt, 7, sizeof spoilt);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle_v2(&memory, spoilt.memory, 1));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle_v2(&memory, shared.memory, 2));
    CHECK(cuMemcpyHtoD_v2(shared.address, &shared, 8) != 0); /* nothing before it is opened */
    OKAY(cuIpcOpenMemHandle_v2(&memory, shared.memory, 1));
    OKAY(cuIpcOpenMemHandle_v2(&again, shared.memory, 1));
    EQUAL(memory, again);
    OKAY(cuMemGetAddressRange_v2(&again, &size, memory + 5));
    EQUAL(memory, again);
    EQUAL(BYTES, size);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(memory));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&spoilt.memory, memory));
    OKAY(cuIpcOpenEventHandle(&event, shared.event));
    OKAY(cuIpcOpenEventHandle(&second, shared.event));
    OKAY(cuStreamWaitEvent(stream, event, 0));
    expect(memory, 11);
    OKAY(cuEventDestroy_v2(second));
    OKAY(cuEventQuery(event));
    OKAY(cuIpcCloseMemHandle(memory));
    write_value(memory, 22); /* opened twice */
    OKAY(cuEventRecord(event, stream));
    step(to_owner[1]);
    await(to_user[0]); /* the owner has destroyed its event */
    OKAY(cuEventRecord(event, stream));
    OKAY(cuEventSynchronize(event));
    OKAY(cuEventDestroy_v2(event));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenEventHandle(&event, shared.event));
    OKAY(cuIpcCloseMemHandle(memory));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
    CHECK(cuMemcpyHtoD_v2(memory, &shared, 8) != 0); /* nothing after it is closed */
    step(to_owner[1]);
}

/* Memory that is freed while another has it open keeps its content, and nobody else gets its place. */
static void outlive_owner(void)
{
    struct shared shared[2];
    CUdeviceptr other;
    for (int i = 0; i < 2; i++) {
        OKAY(cuMemAlloc_v2(&shared[i].address, BYTES));
        OKAY(cuIpcGetMemHandle(&shared[i].memory, shared[i].address));
        write_value(shared[i].address, 31 + i);
    }
    OKAY(cuStreamSynchronize(stream));
    put(to_user[1], shared, sizeof shared);
    await(to_owner[0]);
    OKAY(cuMemFree_v2(shared[0].address));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(shared[0].address));
    for (int i = 0; i < 64; i++) {
        OKAY(cuMemAlloc_v2(&other, BYTES));
        write_value(other, 99);
        CHECK(other != shared[0].address);
    }
    OKAY(cuStreamSynchronize(stream));
    step(to_user[1]);
    _exit(0); /* as it stands */
}

static void outlive_user(void)
{
    struct shared shared[2];
    CUdeviceptr memory[2];
    get(to_user[0], shared, sizeof shared);
    for (int i = 0; i < 2; i++)
        OKAY(cuIpcOpenMemHandle_v2(&memory[i], shared[i].memory, 1));
    step(to_owner[1]);
    await(to_user[0]);
    usleep(300000); /* the executor frees what the owner had */
    for (int i = 0; i < 2; i++)
        expect(memory[i], 31 + i);
    write_value(memory[1], 7);
    expect(memory[1], 7);
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenMemHandle_v2(&memory[0], shared[0].memory, 1));
    OKAY(cuIpcCloseMemHandle(memory[0])); /* the other one goes with this process */
}

static void churn_owner(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct shared shared;
        OKAY(cuMemAlloc_v2(&shared.address, BYTES));
        OKAY(cuIpcGetMemHandle(&shared.memory, shared.address));
        write_value(shared.address, round);
        OKAY(cuStreamSynchronize(stream));
        put(to_user[1], &shared, sizeof shared);
        if (round % 2)
            await(to_owner[0]);
        OKAY(cuMemFree_v2(shared.address));
        if (!(round % 2))
            await(to_owner[0]);
    }
}

static void churn_user(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct shared shared;
        CUdeviceptr memory;
        get(to_user[0], &shared, sizeof shared);
        CUresult result = cuIpcOpenMemHandle_v2(&memory, shared.memory, 1);
        CHECK(result == 0 || (result == CUDA_ERROR_INVALID_HANDLE && !(round % 2))); /* freed before it was opened */
        if (result == 0) {
            expect(memory, round);
            OKAY(cuIpcCloseMemHandle(memory));
        }
        step(to_owner[1]);
    }
}

static void export_to(const char *file)
{
    CUdeviceptr memory;
    CUipcMemHandle handle;
    OKAY(cuMemAlloc_v2(&memory, BYTES));
    OKAY(cuIpcGetMemHandle(&handle, memory));
    FILE *out = fopen(file, "w");
    CHECK(out && fwrite(&handle, sizeof handle, 1, out) == 1 && fclose(out) == 0);
    printf("ready\n");
    fflush(stdout);
    getchar();
}

static void open_from(const char *file)
{
    CUdeviceptr memory;
    CUipcMemHandle handle;
    FILE *in = fopen(file, "r");
    CHECK(in && fread(&handle, sizeof handle, 1, in) == 1 && fclose(in) == 0);
    printf("opened: %d\n", cuIpcOpenMemHandle_v2(&memory, handle, 1));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*owner)(void), (*user)(void);
    } modes[] = {{"share", share_owner, share_user},
                 {"outlive", outlive_owner, outlive_user},
                 {"churn", churn_owner, churn_user}};
    CHECK(argc >= 2);
    if (argc == 3) {
        start();
        (strcmp(argv[1], "export") == 0 ? export_to : open_from)(argv[2]);
        return 0;
    }
    CHECK(pipe(to_user) == 0 && pipe(to_owner) == 0);
    for (int i = 0; i < 3; i++) {
        if (strcmp(argv[1], modes[i].name) != 0)
            continue;
        int status = 0;
        pid_t owner = fork(); /* before either has anything of CUDA */
        CHECK(owner >= 0);
        start();
        (owner == 0 ? modes[i].owner : modes[i].user)();
        if (owner == 0)
            return 0;
        CHECK(waitpid(owner, &status, 0) == owner && status == 0);
        printf("%s ok\n", argv[1]);
        return 0;
    }
    return 2;
}
