/*
 * The driver for tests of the direct port's layers: the scripted driver (tests/scripted-driver), in the table that REAL() reads,
 * and an injector before each of its entries. Contents are real: new physical memory is full of garbage, what is not mapped or not
 * accessible cannot be read, the kernel that looks at memory runs. The injector counts calls and makes them fail, and it ends the
 * test at a call that CUDA forbids (mapping over a mapping, releasing what is not there, using what has ended) or that the library
 * never makes (driver_expect). A test that wants more of an entry puts a function of its own before it, by HOOK. Any thread.
 */
#ifndef TESSERA_SCRIPTED_DRIVER_H
#define TESSERA_SCRIPTED_DRIVER_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tests/scripted-driver/src/script/witness.h"
#include "check.h"
#include "driver/loader.h"
#include "tessera_entries.h"

#ifndef DRIVER_SCRIPT /* a test may need more memory */
#define DRIVER_SCRIPT "devices 3; memory 64MiB"
#define DRIVER_MEMORY (64ULL << 20) /* bytes of each device, as the script says */
#endif
#define DRIVER_FAULT CUDA_ERROR_ILLEGAL_ADDRESS

static struct {
    void *entries[TESSERA_ENTRY_COUNT];  /* the driver's own */
    void *injected[TESSERA_ENTRY_COUNT]; /* what stands before them */
    _Atomic unsigned calls;              /* so far */
    _Atomic unsigned calls_of[TESSERA_ENTRY_COUNT];
    _Atomic CUresult refuses[TESSERA_ENTRY_COUNT]; /* what the entry answers without doing anything; 0: it works */
    _Atomic unsigned fail_at;                      /* the call that fails, the first being 1; 0: none */
    _Atomic CUresult failure;                      /* how */
    _Atomic bool fails_by_fault; /* the failure is a fault of the first context: it answers nothing else from then on */
    _Atomic bool faulted;        /* driver_fault() was called */
    _Atomic bool forbidden_calls; /* the test makes calls that CUDA forbids: they do not end it */
    CUcontext context;            /* the first one, on the first device */
    const struct witness *witness;
} driver;

#define UNCOUNTED __attribute__((no_instrument_function)) /* by checks/call-path */
/* The driver's entry, past the injector and hooks. */
#define DRIVER(name) ((pfn_##name)driver.entries[ENTRY_##name])

/* A kernel of the first context reaches an illegal address. */
UNCOUNTED static inline void driver_fault(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    driver.faulted = true;
    CHECK(DRIVER(cuCtxPushCurrent_v2)(driver.context) == CUDA_SUCCESS);
    CHECK(DRIVER(cuModuleLoadData)(&module, "image") == CUDA_SUCCESS);
    CHECK(DRIVER(cuModuleGetFunction)(&kernel, module, "scripted_fault") == CUDA_SUCCESS);
    CHECK(DRIVER(cuLaunchKernel)(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
    CHECK(DRIVER(cuCtxSynchronize)() == DRIVER_FAULT);
    CHECK(DRIVER(cuCtxPopCurrent_v2)(&context) == CUDA_SUCCESS);
}

/* What the call answers instead of reaching the driver; 0: it reaches it. */
UNCOUNTED static inline CUresult driver_inject(unsigned entry)
{
    driver.calls_of[entry]++;
    if (++driver.calls != driver.fail_at)
        return driver.refuses[entry];
    if (driver.fails_by_fault)
        driver_fault();
    return driver.failure;
}

/*
 * What holds for each call of the library, by the parameters' positions: its streams do not wait for the program's, its work is in
 * its streams, and all contexts may use the memory that it pins.
 */
UNCOUNTED static inline void driver_expect(unsigned entry, uintptr_t second, uintptr_t third, uintptr_t fourth,
                                           uintptr_t ninth)
{
    switch (entry) {
    case ENTRY_cuStreamCreate:
        CHECK((unsigned)second == CU_STREAM_NON_BLOCKING);
        break;
    case ENTRY_cuMemHostRegister_v2:
        CHECK((unsigned)third == CU_MEMHOSTREGISTER_PORTABLE);
        break;
    case ENTRY_cuMemcpyDtoHAsync_v2:
    case ENTRY_cuMemcpyHtoDAsync_v2:
    case ENTRY_cuMemsetD32Async:
        CHECK(fourth);
        break;
    case ENTRY_cuLaunchKernel:
        CHECK(ninth);
        break;
    default:
        break;
    }
}

/* Ends the test if CUDA forbids the call. (That a thread has no context is for the caller to ask, by cuCtxGetDevice.) */
UNCOUNTED static inline CUresult driver_allowed(unsigned entry, CUresult result)
{
    static const CUresult forbidden[] = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_CONTEXT,
                                         CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_INVALID_DEVICE};
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden && !driver.forbidden_calls; i++)
        if (result == forbidden[i] && entry != ENTRY_cuCtxGetDevice) {
            fprintf(stderr, "%s: a call that CUDA forbids: error %d\n", tessera_entry_name[entry], result);
            exit(1);
        }
    return result;
}

/*
 * An injected function before each entry, all of one type. Entries take at most eleven integers or pointers; by the x86-64 ABI, an
 * entry that takes fewer finds its own.
 */
#define DRIVER_PARAMETERS                                                                                              \
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h,            \
        uintptr_t i, uintptr_t j, uintptr_t k
typedef CUresult (*driver_entry)(DRIVER_PARAMETERS);

#define ENTRY(name)                                                                                                    \
    UNCOUNTED static CUresult injected_##name(DRIVER_PARAMETERS)                                                       \
    {                                                                                                                  \
        driver_expect(ENTRY_##name, b, c, d, i);                                                                       \
        CUresult result = driver_inject(ENTRY_##name);                                                                 \
        if (result != CUDA_SUCCESS)                                                                                    \
            return result;                                                                                             \
        driver_entry entry = (driver_entry)driver.entries[ENTRY_##name];                                               \
        return driver_allowed(ENTRY_##name, entry(a, b, c, d, e, f, g, h, i, j, k));                                   \
    }
#include "scripted_entries.inc"
#undef ENTRY

/* The injector and then the driver: what a hook goes on to. */
#define INJECTED(name) ((pfn_##name)driver.injected[ENTRY_##name])
/* The function takes the entry's place for the library. */
#define HOOK(name, function) tessera_real[ENTRY_##name] = (void *)(function)
/* From now on the entry answers this and does nothing; CUDA_SUCCESS: no more. */
#define REFUSE(name, result) driver.refuses[ENTRY_##name] = (result)
/* How often it was called, the failures included. */
#define CALLS(name) driver.calls_of[ENTRY_##name]

static CUresult driver_not_listed(void)
{
    fprintf(stderr, "an entry was called that scripted_entries.inc does not list\n");
    abort();
}

/* Makes the first context current, as it is in a thread of a program. */
UNCOUNTED static inline void driver_use(void)
{
    CHECK(DRIVER(cuCtxSetCurrent)(driver.context) == CUDA_SUCCESS);
}

/* Bytes of the first device that the program holds. */
static inline uint64_t driver_held(void)
{
    return __atomic_load_n(&driver.witness->process[0].used_bytes[0], __ATOMIC_SEQ_CST);
}

/* The file in which the driver records what happened, with the memory that the program has. */
UNCOUNTED static void driver_witness(void)
{
    char path[64];
    int file = memfd_create("witness", 0);
    CHECK(file >= 0 && ftruncate(file, sizeof *driver.witness) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    CHECK(setenv("TESSERA_SCRIPT_WITNESS", path, 1) == 0);
    driver.witness = mmap(NULL, sizeof *driver.witness, PROT_READ, MAP_SHARED, file, 0);
    CHECK(driver.witness != MAP_FAILED);
}

/* Opens the driver and fills the table; there is one context then, the calling thread's. Before any other call. */
UNCOUNTED static void driver_load(void)
{
    driver_witness();
    CHECK(setenv("TESSERA_SCRIPT", DRIVER_SCRIPT, 1) == 0);
    void *library = loader_open(SCRIPTED_DRIVER);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        driver.entries[i] = dlsym(library, tessera_entry_name[i]);
        tessera_real[i] = (void *)driver_not_listed;
    }
#define ENTRY(name) HOOK(name, driver.injected[ENTRY_##name] = (void *)injected_##name);
#include "scripted_entries.inc"
#undef ENTRY
    CHECK(DRIVER(cuInit)(0) == CUDA_SUCCESS && DRIVER(cuCtxCreate_v2)(&driver.context, 0, 0) == CUDA_SUCCESS);
}

#endif
