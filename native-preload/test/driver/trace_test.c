/* TESSERA_TRACE: what a line says of a call, which calls have no line, and that the call itself is as without a trace. */
#include "driver/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "driver/trace_answers.h"
#include "tessera_entries.h"

#define DEEP 80u /* deeper than a trace follows */

static char path[] = "/tmp/tessera-trace-XXXXXX";
static unsigned depth;

#define CALL(name) ((pfn_##name)__atomic_load_n(&tessera_port[ENTRY_##name], __ATOMIC_ACQUIRE))

static CUresult allocate(CUdeviceptr *pointer, size_t bytes)
{
    errno = ENOTTY;
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *pointer = 0xabc000;
    return CUDA_SUCCESS;
}

/* As a driver that waits for an executor. */
static CUresult synchronise(CUstream stream)
{
    trace_waits.answers += 2;
    trace_waits.words++;
    return stream ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                       void **extra)
{
    bool all = function == (CUfunction)0xf0 && grid_x == 1 && grid_y == 2 && grid_z == 3 && block_x == 4 &&
               block_y == 5 && block_z == 6 && shared_bytes == 7 && stream == (CUstream)0x50 &&
               parameters == (void **)0x60 && extra == (void **)0x70;
    return all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A call back into the program, which calls the driver. */
static CUresult call_again(CUstream stream)
{
    return ++depth < DEEP ? CALL(cuStreamSynchronize)(stream) : CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    *function = (CUfunction)0x77;
    return strcmp(name, "absent") == 0 ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

static CUresult memory_info(size_t *free_bytes, size_t *total)
{
    *free_bytes = 10;
    *total = 5000000000;
    return CUDA_SUCCESS;
}

/* The next line of the trace without its time and thread. */
static const char *line(FILE *trace)
{
    static char text[1024];
    CHECK(fgets(text, sizeof text, trace));
    text[strcspn(text, "\n")] = 0;
    char *at = strchr(text, ' ');
    CHECK(at && (at = strchr(at + 1, ' ')));
    return at + 1;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    return strlen(text) >= strlen(with) && strcmp(text + strlen(text) - strlen(with), with) == 0;
}

static void lines(FILE *trace)
{
    CUdeviceptr pointer = 0;
    errno = 0;
    CHECK(CALL(cuMemAlloc_v2)(&pointer, 4096) == CUDA_SUCCESS && pointer == 0xabc000 && errno == ENOTTY);
    CHECK(begins(line(trace), "cuMemAlloc_v2 0 abc000 1000 ")); /* the new address, not the argument */
    char wanted[64];
    CHECK(CALL(cuMemAlloc_v2)(&pointer, 0) == CUDA_ERROR_INVALID_VALUE);
    snprintf(wanted, sizeof wanted, "cuMemAlloc_v2 1 %lx 0 ", (unsigned long)&pointer);
    CHECK(begins(line(trace), wanted));

    CHECK(CALL(cuStreamSynchronize)((CUstream)0x9) == CUDA_SUCCESS);
    const char *waited = line(trace);
    CHECK(begins(waited, "cuStreamSynchronize 0 9 ") && ends(waited, " 2 1"));
    CHECK(CALL(cuStreamSynchronize)(NULL) == CUDA_ERROR_NOT_READY);
    CHECK(ends(line(trace), " 2 1")); /* of this call alone */

    CHECK(CALL(cuLaunchKernel)((CUfunction)0xf0, 1, 2, 3, 4, 5, 6, 7, (CUstream)0x50, (void **)0x60, (void **)0x70) ==
          CUDA_SUCCESS);
    CHECK(begins(line(trace), "cuLaunchKernel 0 f0 1 2 3 4 5 6 7 0 0"));
}

static void answers(FILE *trace)
{
    CUfunction function;
    size_t free_bytes, total;
    CHECK(CALL(cuModuleGetFunction)(&function, NULL, "two words") == CUDA_SUCCESS);
    CHECK(ends(line(trace), " 0=77 2=two_words"));
    CHECK(CALL(cuModuleGetFunction)(&function, NULL, "absent") == CUDA_ERROR_NOT_FOUND);
    CHECK(ends(line(trace), " 0 0 2=absent")); /* no function was answered, but the name tells what was asked */
    CHECK(CALL(cuMemGetInfo_v2)(&free_bytes, &total) == CUDA_SUCCESS);
    CHECK(ends(line(trace), " 0=10 1=5000000000"));

    uintptr_t arguments[8] = {(uintptr_t)&free_bytes, 3};
    char text[TRACE_ANSWERS_BYTES];
    trace_answers(ENTRY_cuPointerGetAttribute, 0, arguments, text);
    CHECK(!*text); /* attribute 3 is an address of this process */
    arguments[1] = 2;
    trace_answers(ENTRY_cuPointerGetAttribute, 0, arguments, text);
    CHECK(strcmp(text, " 0=10") == 0);
    trace_answers(ENTRY_cuPointerGetAttribute, 1, arguments, text);
    CHECK(!*text);
    arguments[0] = 0; /* no room for an answer */
    trace_answers(ENTRY_cuPointerGetAttribute, 0, arguments, text);
    CHECK(!*text);
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    arguments[2] = (uintptr_t)name;
    trace_answers(ENTRY_cuModuleGetFunction, CUDA_ERROR_NOT_FOUND, arguments, text);
    CHECK(strlen(text) == strlen(" 2=") + 200);
}

/* Calls beyond the depth are made, but not traced. */
static void deep(FILE *trace)
{
    unsigned noted = 0;
    char text[1024];
    CHECK(CALL(cuStreamQuery)((CUstream)0x9) == CUDA_SUCCESS && depth == DEEP);
    while (fgets(text, sizeof text, trace))
        noted++;
    CHECK(noted == 64);
    clearerr(trace);
}

/* A file that cannot grow costs lines, not the program. */
static void full(void)
{
    struct rlimit before, none = {0, 0};
    CUdeviceptr pointer = 0;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    none.rlim_max = before.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
    CHECK(CALL(cuMemAlloc_v2)(&pointer, 4096) == CUDA_SUCCESS && pointer == 0xabc000 && errno == ENOTTY);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
}

#define DRIVER(name, function) tessera_port[ENTRY_##name] = (void *)(function)

int main(void)
{
    int file = mkstemp(path);
    CHECK(file >= 0);
    DRIVER(cuMemAlloc_v2, allocate);
    DRIVER(cuStreamSynchronize, synchronise);
    DRIVER(cuStreamQuery, call_again);
    DRIVER(cuLaunchKernel, launch);
    DRIVER(cuModuleGetFunction, get_function);
    DRIVER(cuMemGetInfo_v2, memory_info);

    CHECK(unsetenv("TESSERA_TRACE") == 0);
    trace_port();
    CHECK(tessera_port[ENTRY_cuMemAlloc_v2] == (void *)allocate);
    CHECK(setenv("TESSERA_TRACE", "/proc/none/trace", 1) == 0);
    trace_port();
    CHECK(tessera_port[ENTRY_cuMemAlloc_v2] == (void *)allocate);
    CHECK(setenv("TESSERA_TRACE", path, 1) == 0);
    trace_port();
    CHECK(tessera_port[ENTRY_cuMemAlloc_v2] != (void *)allocate);

    FILE *trace = fdopen(file, "r");
    CHECK(trace);
    lines(trace);
    answers(trace);
    DRIVER(cuStreamSynchronize, tessera_port[ENTRY_cuStreamQuery]);
    deep(trace);
    signal(SIGXFSZ, SIG_IGN);
    full();
    CHECK(fclose(trace) == 0 && unlink(path) == 0);
    return 0;
}
