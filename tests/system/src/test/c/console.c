/*
 * A CUDA program that does what it is told: one command a line on stdin, one answer a line on stdout, "ok ..." or
 * "error CODE". Commands:
 *     init; context DEVICE; streams DEVICE (a context without code); total DEVICE; info
 *     alloc BYTES; managed BYTES; async BYTES; create BYTES; array BYTES    ok INDEX, for free, fill and export
 *     free INDEX; unmap INDEX (created memory; it is freed later); fill INDEX VALUE; check INDEX VALUE; export INDEX
 *     launch MICROSECONDS COUNT; sync; query; copy; hostwait; release; host MICROSECONDS
 *     begin MODE; end; graph; waitvalue; writevalue; fault; device DEVICE
 * and those of console_ipc.h.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "console_ipc.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum kind { PLAIN, ASYNC, CREATED, ARRAY, OPENED };

static struct {
    CUdeviceptr pointer;
    size_t bytes;
    enum kind kind;
    void *handle;
    bool unmapped;
} memory[512];
static int count;

static void *stream, *other, *exec, *function;
static CUdeviceptr word;
static volatile int released;

static void answer(CUresult code, const char *rest)
{
    if (code)
        printf("error %d\n", code);
    else
        printf("ok%s%s\n", *rest ? " " : "", rest);
    fflush(stdout);
}

static void answer_number(CUresult code, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    answer(code, text);
}

static CUresult open_streams(int device)
{
    void *context;
    CUresult error = cuDevicePrimaryCtxRetain(&context, device);
    if (!error)
        error = cuCtxSetCurrent(context);
    if (!error)
        error = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (!error)
        error = cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    return error;
}

static CUresult open_context(int device)
{
    void *module;
    CUresult error = open_streams(device);
    if (!error)
        error = cuModuleLoadData(&module, "image");
    return error ? error : cuModuleGetFunction(&function, module, "scripted_sleep_us");
}

static CUresult create(size_t bytes, CUdeviceptr *pointer, void **handle)
{
    struct call_allocation_properties p = {.type = 1, .location = {1, 0}};
    struct call_access access = {{1, 0}, 3};
    CUresult error = cuMemCreate(handle, bytes, &p, 0);
    if (error)
        return error;
    OKAY(cuMemAddressReserve(pointer, bytes, 0, 0, 0));
    OKAY(cuMemMap(*pointer, bytes, 0, *handle, 0));
    return cuMemSetAccess(*pointer, bytes, &access, 1);
}

static void allocate(const char *how, size_t bytes)
{
    CUresult error;
    CHECK(count < 512);
    memory[count].kind = PLAIN;
    memory[count].bytes = bytes;
    if (strcmp(how, "alloc") == 0)
        error = cuMemAlloc_v2(&memory[count].pointer, bytes);
    else if (strcmp(how, "managed") == 0)
        error = cuMemAllocManaged(&memory[count].pointer, bytes, 1);
    else if (strcmp(how, "async") == 0) {
        memory[count].kind = ASYNC;
        error = cuMemAllocAsync(&memory[count].pointer, bytes, stream);
    } else if (strcmp(how, "create") == 0) {
        memory[count].kind = CREATED;
        error = create(bytes, &memory[count].pointer, &memory[count].handle);
    } else {
        struct call_array d = {bytes / 4, 1, 0x20, 1};
        memory[count].kind = ARRAY;
        error = cuArrayCreate_v2(&memory[count].handle, &d);
    }
    answer_number(error, count);
    count += error == 0;
}

static CUresult unmap(int i)
{
    memory[i].unmapped = true;
    return cuMemUnmap(memory[i].pointer, memory[i].bytes);
}

static CUresult release(int i)
{
    switch (memory[i].kind) {
    case ASYNC: {
        CUresult error = cuMemFreeAsync(memory[i].pointer, stream);
        return error ? error : cuStreamSynchronize(stream);
    }
    case CREATED: {
        CUresult error = memory[i].unmapped ? 0 : unmap(i);
        if (!error)
            error = cuMemRelease(memory[i].handle);
        return error ? error : cuMemAddressFree(memory[i].pointer, memory[i].bytes);
    }
    case ARRAY:
        return cuArrayDestroy(memory[i].handle);
    default:
        return cuMemFree_v2(memory[i].pointer);
    }
}

/* Every word of it. */
static CUresult check(int i, unsigned value)
{
    size_t words = memory[i].bytes / 4;
    unsigned *found = malloc(words * 4 + 1);
    CHECK(found != NULL);
    CUresult error = cuMemcpyDtoH_v2(found, memory[i].pointer, words * 4);
    for (size_t at = 0; at < words && !error; at++)
        error = found[at] == value ? 0 : 1;
    free(found);
    return error;
}

static CUresult launch(uint64_t us, int times)
{
    void *parameters[] = {&us};
    CUresult error = 0;
    for (int i = 0; i < times && !error; i++)
        error = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    return error;
}

static void wait_for_release(void *unused)
{
    (void)unused;
    while (!released)
        usleep(1000);
}

static void take_time(void *us)
{
    usleep((useconds_t)(uintptr_t)us);
}

static CUresult end_capture(void)
{
    void *graph;
    CUresult error = cuStreamEndCapture(stream, &graph);
    return error ? error : cuGraphInstantiateWithFlags(&exec, graph, 0);
}

static CUresult values(int wait)
{
    if (!word) {
        CUresult error = cuMemAlloc_v2(&word, 4);
        if (!error)
            error = cuMemsetD8Async(word, 0, 4, other);
        if (!error)
            error = cuStreamSynchronize(other);
        if (error)
            return error;
    }
    return wait ? cuStreamWaitValue32_v2(stream, word, 1, 1) : cuStreamWriteValue32_v2(other, word, 1, 0);
}

static void on_memory(const char *what, int i, unsigned value)
{
    if (i < 0 || i >= count) {
        answer(1, "");
        return;
    }
    CUipcMemHandle handle;
    if (strcmp(what, "free") == 0)
        answer(release(i), "");
    else if (strcmp(what, "unmap") == 0)
        answer(unmap(i), "");
    else if (strcmp(what, "fill") == 0)
        answer(cuMemsetD32_v2(memory[i].pointer, value, memory[i].bytes / 4), "");
    else if (strcmp(what, "check") == 0)
        answer(check(i, value), "");
    else if (strcmp(what, "close") == 0)
        answer(cuIpcCloseMemHandle(memory[i].pointer), "");
    else if (strcmp(what, "range") == 0) {
        char text[96];
        CUresult error = range_of(memory[i].pointer, memory[i].bytes, text, sizeof text);
        answer(error, text);
    } else if (strcmp(what, "handle") == 0) {
        char hex[2 * sizeof handle + 1];
        CUresult error = cuIpcGetMemHandle(&handle, memory[i].pointer);
        handle_to_hex(&handle, hex);
        answer(error, hex);
    } else
        answer(cuIpcGetMemHandle(&handle, memory[i].pointer), "");
}

static void open_memory(const char *hex)
{
    CHECK(count < 512);
    memory[count].kind = OPENED;
    CUresult error = open_hex(hex, &memory[count].pointer, &memory[count].bytes);
    answer_number(error, count);
    count += error == 0;
}

static bool names_memory(const char *what)
{
    static const char *const names[] = {"free", "unmap", "fill", "check", "export", "handle", "close", "range"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(what, names[i]) == 0)
            return true;
    return false;
}

static void told(const char *what, long long a, long long b)
{
    static char source[1 << 16];
    size_t free_bytes = 0, total = 0;
    char text[64] = "";
    if (strcmp(what, "init") == 0)
        answer(cuInit(0), "");
    else if (strcmp(what, "context") == 0)
        answer(open_context((int)a), "");
    else if (strcmp(what, "streams") == 0)
        answer(open_streams((int)a), "");
    else if (strcmp(what, "total") == 0) {
        CUresult error = cuDeviceTotalMem_v2(&total, (int)a);
        answer_number(error, (long long)total);
    } else if (strcmp(what, "info") == 0) {
        CUresult error = cuMemGetInfo_v2(&free_bytes, &total);
        snprintf(text, sizeof text, "%zu %zu", free_bytes, total);
        answer(error, text);
    } else if (strcmp(what, "launch") == 0)
        answer(launch((uint64_t)a, (int)b), "");
    else if (strcmp(what, "sync") == 0)
        answer(cuStreamSynchronize(stream), "");
    else if (strcmp(what, "query") == 0)
        answer(cuStreamQuery(stream), "");
    else if (strcmp(what, "copy") == 0)
        answer(cuMemcpyHtoDAsync_v2(memory[0].pointer, source, 4096, stream), "");
    else if (strcmp(what, "hostwait") == 0)
        answer(cuLaunchHostFunc(stream, wait_for_release, NULL), "");
    else if (strcmp(what, "host") == 0)
        answer(cuLaunchHostFunc(stream, take_time, (void *)(uintptr_t)a), "");
    else if (strcmp(what, "release") == 0) {
        released = 1;
        answer(0, "");
    } else if (strcmp(what, "begin") == 0)
        answer(cuStreamBeginCapture_v2(stream, (int)a), "");
    else if (strcmp(what, "end") == 0)
        answer(end_capture(), "");
    else if (strcmp(what, "graph") == 0)
        answer(cuGraphLaunch(exec, stream), "");
    else if (strcmp(what, "descriptors") == 0)
        answer_number(0, open_files());
    else if (strcmp(what, "child") == 0)
        answer_number(0, open_files_of_a_child());
    else if (strcmp(what, "mappings") == 0)
        answer_number(0, driver_mappings());
    else if (strcmp(what, "waitvalue") == 0)
        answer(values(1), "");
    else if (strcmp(what, "writevalue") == 0)
        answer(values(0), "");
    else
        allocate(what, (size_t)a);
}

int main(void)
{
    char line[256], what[32], text[160];
    while (fgets(line, sizeof line, stdin)) {
        long long a = 0, b = 0;
        if (sscanf(line, "%31s %lld %lld", what, &a, &b) < 1)
            continue;
        if (strcmp(what, "quit") == 0)
            return (int)a;
        if (strcmp(what, "open") == 0 && sscanf(line, "%*s %159s", text) == 1)
            open_memory(text);
        else if (names_memory(what))
            on_memory(what, (int)a, (unsigned)b);
        else
            told(what, a, b);
    }
    return 0;
}
