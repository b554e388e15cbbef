#include "direct/turns/devices.h"

#include <pthread.h>
#include <string.h>

#include "direct/turns/membarrier.h"
#include "session/manager_client.h"
#include "direct/turns/pace.h"
#include "session/manager.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

#define MAX_CONTEXTS 256

struct context {
    void *handle; /* NULL: free */
    unsigned device;
    unsigned pins; /* number of threads of the library that use it */
    bool primary;
    bool closing;
};

struct tessera_device *gate_sole;
static struct context contexts[MAX_CONTEXTS];
static bool opened[TESSERA_MAX_DEVICES];
static unsigned opened_count;
static void (*opened_first)(unsigned device);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void devices_first(void (*first)(unsigned device))
{
    opened_first = first;
}

static struct context *find(void *handle)
{
    for (int i = 0; i < MAX_CONTEXTS; i++)
        if (contexts[i].handle == handle)
            return &contexts[i];
    return NULL;
}

static void identify(unsigned index, CUdevice device)
{
    struct tessera_device *slot = &segment_get()->devices[index];
    size_t total = 0;
    slot->ordinal = (uint32_t)device;
    if (REAL(cuDeviceGetUuid_v2)((void *)slot->uuid, device) != CUDA_SUCCESS)
        REAL(cuDeviceGetUuid)((void *)slot->uuid, device);
    REAL(cuDeviceTotalMem_v2)(&total, device);
    slot->total_bytes = total;
    REAL(cuDeviceGetName)(slot->name, TESSERA_DEVICE_NAME - 1, device);
}

/* The gate's fast path handles one device; with a second one, each submission looks its device up. */
static void first_context_on(unsigned index, CUdevice device)
{
    identify(index, device);
    if (opened_first)
        opened_first(index);
    __atomic_store_n(&opened[index], true, __ATOMIC_RELEASE);
    /* After `opened`: an order that arrives at once must find the device open, or it waits for the next tick. */
    if (manager_connected())
        manager_client_announce(index);
    bool alone = __atomic_add_fetch(&opened_count, 1, __ATOMIC_ACQ_REL) == 1;
    struct tessera_device *sole = alone && membarrier_works() ? &tessera_segment->devices[index] : NULL;
    __atomic_store_n(&gate_sole, sole, __ATOMIC_RELEASE);
}

static void open_context(void *handle, CUdevice device, bool primary)
{
    if (!handle || settings()->disabled)
        return;
    if (device < 0 || device >= TESSERA_MAX_DEVICES) {
        report_error(0, "device %d is beyond the %d that are tracked: it runs unshared", device, TESSERA_MAX_DEVICES);
        return;
    }
    pthread_mutex_lock(&lock);
    struct context *context = find(handle);
    if (!context && (context = find(NULL))) {
        *context = (struct context){.handle = handle, .device = (unsigned)device, .primary = primary};
        segment_open();
        segment_change_begin();
        tessera_segment->devices[device].contexts++;
        segment_change_end();
        if (!opened[device])
            first_context_on((unsigned)device, device);
    } else if (!context) {
        report_error(0, "more than %d contexts: the rest are not drained", MAX_CONTEXTS);
    }
    pthread_mutex_unlock(&lock);
}

void devices_context_opened(void *context, CUdevice device)
{
    open_context(context, device, false);
}

void devices_primary_opened(void *context, CUdevice device)
{
    open_context(context, device, true);
}

int devices_context_closing(void *handle)
{
    int device = -1;
    pthread_mutex_lock(&lock);
    struct context *context;
    while ((context = handle ? find(handle) : NULL) && (context->pins || context->closing))
        pthread_cond_wait(&changed, &lock); /* meanwhile another thread may end it, and its slot gets another context */
    if (context) {
        context->closing = true;
        device = (int)context->device;
    }
    pthread_mutex_unlock(&lock);
    return device;
}

void devices_context_closed(void *handle, bool gone)
{
    pthread_mutex_lock(&lock);
    struct context *context = find(handle);
    if (context && gone) {
        unsigned device = context->device;
        segment_change_begin();
        tessera_segment->devices[device].contexts--;
        segment_change_end();
        memset(context, 0, sizeof *context);
        pace_forget(device);
    } else if (context) {
        context->closing = false;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void *devices_primary(CUdevice device)
{
    void *handle = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CONTEXTS; i++)
        if (contexts[i].handle && contexts[i].primary && contexts[i].device == (unsigned)device)
            handle = contexts[i].handle;
    pthread_mutex_unlock(&lock);
    return handle;
}

unsigned devices_opened_count(void)
{
    return __atomic_load_n(&opened_count, __ATOMIC_ACQUIRE);
}

bool devices_opened(unsigned device)
{
    return __atomic_load_n(&opened[device], __ATOMIC_ACQUIRE);
}

static int device_of_context(void *handle)
{
    int device = -1;
    pthread_mutex_lock(&lock);
    struct context *context = handle ? find(handle) : NULL;
    if (context)
        device = (int)context->device;
    pthread_mutex_unlock(&lock);
    return device;
}

/* Tracks a current context that was created without a call of the library, for example by an export table. */
static bool open_unseen(CUdevice device)
{
    CUcontext context = NULL;
    if (REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS || !context)
        return false;
    devices_context_opened(context, device);
    return devices_opened((unsigned)device);
}

int devices_current(void)
{
    CUdevice device;
    bool valid = REAL(cuCtxGetDevice)(&device) == CUDA_SUCCESS && device >= 0 && device < TESSERA_MAX_DEVICES;
    bool open = valid && (__atomic_load_n(&opened[device], __ATOMIC_ACQUIRE) || open_unseen(device));
    return open ? device : -1;
}

int devices_of_stream(uintptr_t stream)
{
    struct tessera_device *sole = __atomic_load_n(&gate_sole, __ATOMIC_RELAXED);
    if (sole)
        return (int)(sole - tessera_segment->devices);
    if (stream > TESSERA_STREAM_PER_THREAD) {
        CUcontext context = NULL;
        if (REAL(cuStreamGetCtx)((CUstream)stream, &context) == CUDA_SUCCESS && context) {
            int device = device_of_context(context);
            if (device >= 0)
                return device;
        }
    }
    return devices_current();
}

/* Calls `visit` for each context of the device, with the context current and without the lock. */
static void each_context(unsigned device, void (*visit)(void *handle, void *state), void *state)
{
    for (int i = 0; i < MAX_CONTEXTS; i++) {
        pthread_mutex_lock(&lock);
        struct context *context = &contexts[i];
        while (context->handle && context->device == device && context->closing)
            pthread_cond_wait(&changed, &lock);
        void *handle = context->device == device ? context->handle : NULL;
        if (handle)
            context->pins++;
        pthread_mutex_unlock(&lock);
        if (!handle)
            continue;
        CUresult result = REAL(cuCtxPushCurrent_v2)(handle);
        report_failure(result, "a context could not be entered; its work is taken as ended");
        if (result == CUDA_SUCCESS) {
            CUcontext popped;
            visit(handle, state);
            REAL(cuCtxPopCurrent_v2)(&popped);
        }
        pthread_mutex_lock(&lock);
        context->pins--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

/* Pins a context of the device, behind `before` in the table, that is not about to end; NULL: there is none. */
static void *pin_one(unsigned device, const void *before)
{
    void *handle = NULL;
    int i = 0;
    pthread_mutex_lock(&lock);
    while (before && i < MAX_CONTEXTS && contexts[i++].handle != before)
        ;
    for (; i < MAX_CONTEXTS && !handle; i++)
        if (contexts[i].handle && contexts[i].device == device && !contexts[i].closing) {
            handle = contexts[i].handle;
            contexts[i].pins++;
        }
    pthread_mutex_unlock(&lock);
    return handle;
}

static void unpin(void *handle)
{
    pthread_mutex_lock(&lock);
    struct context *context = find(handle);
    if (context)
        context->pins--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void *devices_enter_after(unsigned device, const void *before)
{
    void *handle = pin_one(device, before);
    if (handle && REAL(cuCtxPushCurrent_v2)(handle) != CUDA_SUCCESS) {
        unpin(handle);
        return NULL;
    }
    return handle;
}

void *devices_enter(unsigned device)
{
    return devices_enter_after(device, NULL);
}

void devices_leave(void *handle)
{
    CUcontext popped;
    REAL(cuCtxPopCurrent_v2)(&popped);
    unpin(handle);
}

static void synchronise_one(void *handle, void *state)
{
    (void)handle;
    (void)state;
    CUresult result = REAL(cuCtxSynchronize)();
    report_failure(result, "a context could not be drained; its work is taken as ended");
}

void devices_synchronise(unsigned device)
{
    each_context(device, synchronise_one, NULL);
}

static void query_one(void *handle, void *state)
{
    (void)handle;
    if (REAL(cuStreamQuery)((CUstream)TESSERA_STREAM_LEGACY) == CUDA_ERROR_NOT_READY)
        *(bool *)state = true;
}

bool devices_busy(unsigned device)
{
    bool busy = false;
    each_context(device, query_one, &busy);
    return busy;
}

bool devices_reach(unsigned device, unsigned peer)
{
    int can = 0;
    return REAL(cuDeviceCanAccessPeer)(&can, (CUdevice)peer, (CUdevice)device) == CUDA_SUCCESS && can;
}

bool devices_apart(void)
{
    int count = 0;
    if (REAL(cuDeviceGetCount)(&count) != CUDA_SUCCESS || count > TESSERA_MAX_DEVICES)
        return count > TESSERA_MAX_DEVICES;
    for (unsigned device = 0; device < (unsigned)count; device++)
        for (unsigned peer = 0; peer < (unsigned)count; peer++)
            if (peer != device && !devices_reach(device, peer))
                return true;
    return false;
}

void devices_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
    memset(contexts, 0, sizeof contexts);
    memset(opened, 0, sizeof opened);
    opened_count = 0;
    gate_sole = NULL;
}
