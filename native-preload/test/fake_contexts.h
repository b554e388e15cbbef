/* What the fake driver (fake_driver.h) knows, how a call of it begins and ends, and its contexts and devices. */
#ifndef TESSERA_FAKE_CONTEXTS_H
#define TESSERA_FAKE_CONTEXTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "tessera_entries.h"

#define FAKE_MEMORY (64ULL << 20) /* bytes of the first device; the second says twice that, and so on */
#define FAKE_UNIT (2ULL << 20)
#define FAKE_OBJECTS 1024
#define FAKE_DEVICES 3
#define FAKE_CONTEXTS 512
#define FAKE_DEPTH 16 /* contexts that a thread has pushed and not popped */
#define FAKE_CONTEXT FAKE_CONTEXT_OF(0)
#define FAKE_CONTEXT_OF(number) ((CUcontext)(uintptr_t)(0x1000 + (number)))
#define FAKE_FAULT CUDA_ERROR_ILLEGAL_ADDRESS /* the context answers nothing else from then on */

static struct {
    pthread_mutex_t lock;
    unsigned calls;   /* so far */
    unsigned fail_at; /* the call that fails, the first being 1; 0: none */
    CUresult failure; /* how */
    bool faulted;
    CUdevice device_of[FAKE_CONTEXTS]; /* by the number of a context */
    uint64_t held;                     /* bytes of physical memory */
    unsigned mappings, reservations, registrations, streams, events;
    struct {
        int file; /* one more than the descriptor; 0: none */
        uint64_t bytes;
        bool released; /* by its handle: gone when nothing is mapped any more */
        unsigned mapped;
    } memory[FAKE_OBJECTS];
    struct {
        CUdeviceptr address; /* 0: free */
        uint64_t bytes;
        unsigned memory;
    } maps[FAKE_OBJECTS];
    struct {
        CUdeviceptr address; /* 0: free */
        uint64_t bytes;
    } reserved[FAKE_OBJECTS];
    unsigned pending[FAKE_OBJECTS]; /* of events: queries until they are reached, plus one; 0: no such event */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread CUcontext fake_current = FAKE_CONTEXT, fake_below[FAKE_DEPTH];
static __thread unsigned fake_depth;

/* With the lock from here on, if it succeeds. */
static CUresult fake_enter(void)
{
    pthread_mutex_lock(&fake.lock);
    CUresult result = CUDA_SUCCESS;
    if (++fake.calls == fake.fail_at) {
        fake.faulted = fake.failure == FAKE_FAULT;
        result = fake.failure;
    }
    if (result != CUDA_SUCCESS)
        pthread_mutex_unlock(&fake.lock);
    return result;
}

static CUresult fake_leave(CUresult result)
{
    pthread_mutex_unlock(&fake.lock);
    return result;
}

#define FAKE_CALL                                                                                                      \
    CUresult failure = fake_enter();                                                                                   \
    if (failure != CUDA_SUCCESS)                                                                                       \
    return failure

/* With the lock: the first entry of a table whose first field, of so many bytes, is 0. */
static unsigned fake_free_slot(const void *table, size_t entry, size_t bytes)
{
    static const char free_entry[sizeof(CUdeviceptr)];
    unsigned i = 0;
    while (i < FAKE_OBJECTS && memcmp((const char *)table + i * entry, free_entry, bytes))
        i++;
    CHECK(i < FAKE_OBJECTS);
    return i;
}

/* Contexts and devices */

static CUresult fake_nothing(void)
{
    FAKE_CALL;
    return fake_leave(CUDA_SUCCESS);
}

static inline unsigned fake_number_of(CUcontext context)
{
    unsigned number = (unsigned)((uintptr_t)context - (uintptr_t)FAKE_CONTEXT);
    CHECK(context && number < FAKE_CONTEXTS);
    return number;
}

static CUresult fake_cuCtxGetCurrent(CUcontext *context)
{
    FAKE_CALL;
    *context = fake_current;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuCtxPushCurrent_v2(CUcontext context)
{
    FAKE_CALL;
    CHECK(fake_depth < FAKE_DEPTH);
    fake_below[fake_depth++] = fake_current;
    fake_current = context;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuCtxPopCurrent_v2(CUcontext *context)
{
    FAKE_CALL;
    *context = fake_current;
    fake_current = fake_depth ? fake_below[--fake_depth] : NULL;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuCtxGetDevice(CUdevice *device)
{
    FAKE_CALL;
    if (!fake_current)
        return fake_leave(CUDA_ERROR_INVALID_CONTEXT);
    *device = fake.device_of[fake_number_of(fake_current)];
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuDeviceGetCount(int *devices)
{
    FAKE_CALL;
    *devices = FAKE_DEVICES;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuDeviceGetUuid(void *uuid, CUdevice device)
{
    FAKE_CALL;
    memset(uuid, 0x40 + device, 16);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuDeviceGetUuid_v2(void *uuid, CUdevice device)
{
    FAKE_CALL;
    memset(uuid, 0x60 + device, 16);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    FAKE_CALL;
    *bytes = FAKE_MEMORY * (unsigned)(device + 1);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    FAKE_CALL;
    *total = FAKE_MEMORY;
    *free_bytes = FAKE_MEMORY - fake.held;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    FAKE_CALL;
    (void)attribute;
    (void)device;
    *value = 1;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemGetAllocationGranularity(size_t *bytes, const void *properties, int option)
{
    FAKE_CALL;
    (void)properties;
    (void)option;
    *bytes = FAKE_UNIT;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_text(char *text, int bytes, CUdevice device)
{
    FAKE_CALL;
    snprintf(text, (size_t)bytes, "device %d", device);
    return fake_leave(CUDA_SUCCESS);
}

#endif
