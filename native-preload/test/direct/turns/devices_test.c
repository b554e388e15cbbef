/* Which contexts are on which device: how they are found, drained, and end. */
#include "direct/turns/devices.h"

#include <pthread.h>

#include "scripted_driver.h"
#include "session/segment.h"

#define CONTEXTS 6
#define UNKNOWN(number) ((CUcontext)(uintptr_t)(0x1000 + (number))) /* to the driver */

/* By number: 1 and 2 are on the first device, 3 on the second, 4 on the third, 5 on one beyond the slots. */
static CUcontext contexts[CONTEXTS];

/* What this test's driver does beyond the scripted driver. */
static unsigned synchronised[CONTEXTS], queried; /* calls, the first by the number of a context */
static CUresult query_result, synchronise_result;
static unsigned held_at, arrived; /* a synchronisation of this context waits until it is 0 */

static CUcontext current(void)
{
    CUcontext context;
    CHECK(DRIVER(cuCtxGetCurrent)(&context) == CUDA_SUCCESS);
    return context;
}

static void use(CUcontext context)
{
    CHECK(DRIVER(cuCtxSetCurrent)(context) == CUDA_SUCCESS);
}

static unsigned current_number(void)
{
    unsigned number = 1;
    while (number < CONTEXTS && contexts[number] != current())
        number++;
    CHECK(number < CONTEXTS);
    return number;
}

static CUresult synchronise(void)
{
    unsigned number = current_number();
    __atomic_fetch_add(&synchronised[number], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&arrived, number, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held_at, __ATOMIC_ACQUIRE) == number)
        usleep(100);
    return synchronise_result;
}

static CUresult query(CUstream stream)
{
    CHECK(stream == (CUstream)TESSERA_STREAM_LEGACY);
    queried++;
    return current_number() == 2 ? query_result : CUDA_SUCCESS;
}

static CUresult context_of_stream(CUstream stream, CUcontext *context)
{
    *context = (uintptr_t)stream == 0x77 ? contexts[3] : NULL;
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult older_uuid(void *to, CUdevice device)
{
    memset(to, 0x40 + device, 16);
    return CUDA_SUCCESS;
}

static CUresult device_of_current(CUdevice *device)
{
    if (!current() || current() != contexts[5])
        return INJECTED(cuCtxGetDevice)(device);
    *device = TESSERA_MAX_DEVICES;
    return CUDA_SUCCESS;
}

/* The calling thread has none of them. */
static void make_contexts(void)
{
    static const CUdevice on[CONTEXTS] = {0, 0, 0, 1, 2, 0};
    CUcontext left;
    for (unsigned i = 1; i < CONTEXTS; i++)
        CHECK(DRIVER(cuCtxCreate_v2)(&contexts[i], 0, on[i]) == CUDA_SUCCESS);
    while (current())
        CHECK(DRIVER(cuCtxPopCurrent_v2)(&left) == CUDA_SUCCESS);
}

static int cut = -1; /* this device reaches no other */

static CUresult can_reach(int *can, CUdevice device, CUdevice peer)
{
    (void)peer;
    *can = device != cut;
    return CUDA_SUCCESS;
}

static unsigned first[TESSERA_MAX_DEVICES];

static void open_first(unsigned device)
{
    CHECK(!devices_opened(device)); /* nobody finds it open before it is governed */
    first[device]++;
}

static struct tessera_device *slot(unsigned device)
{
    return &tessera_segment->devices[device];
}

static bool has_error(const char *text)
{
    for (unsigned i = 0; i < TESSERA_ERROR_ENTRIES; i++)
        if (tessera_segment->errors[i].ready && strstr(tessera_segment->errors[i].text, text))
            return true;
    return false;
}

static void opens(void)
{
    unsigned char uuid[16];
    CHECK(devices_current() == -1 && devices_opened_count() == 0 && !gate_sole);
    devices_context_opened(NULL, 0);
    CHECK(devices_opened_count() == 0);
    devices_context_opened(contexts[1], 0);
    CHECK(devices_opened(0) && devices_opened_count() == 1 && first[0] == 1 && slot(0)->contexts == 1);
    CHECK(slot(0)->total_bytes == DRIVER_MEMORY && strcmp(slot(0)->name, "Scripted GPU 0") == 0);
    CHECK(DRIVER(cuDeviceGetUuid_v2)(uuid, 0) == CUDA_SUCCESS && memcmp(uuid, slot(0)->uuid, sizeof uuid) == 0);
    CHECK(!gate_sole || gate_sole == slot(0)); /* none where membarrier() is missing */
    devices_context_opened(contexts[1], 0);
    CHECK(slot(0)->contexts == 1);
    devices_primary_opened(contexts[2], 0);
    CHECK(slot(0)->contexts == 2 && first[0] == 1 && devices_primary(0) == contexts[2] && !devices_primary(1));
    CHECK(devices_of_stream(0x77) == (gate_sole ? 0 : -1)); /* with one device there is nothing to look up */

    REFUSE(cuDeviceGetUuid_v2, CUDA_ERROR_NOT_SUPPORTED); /* a driver without the newer entry */
    devices_context_opened(contexts[3], 1);
    CHECK(devices_opened_count() == 2 && first[1] == 1 && !gate_sole && slot(1)->uuid[0] == 0x41);
    devices_context_opened(UNKNOWN(9), TESSERA_MAX_DEVICES);
    CHECK(devices_opened_count() == 2 && has_error("is beyond the"));
}

static void finds(void)
{
    use(contexts[1]);
    CHECK(devices_current() == 0 && devices_of_stream(0) == 0);
    CHECK(devices_of_stream(0x77) == 1); /* of context 3 */
    CHECK(devices_of_stream(0x88) == 0); /* not known to the driver: as the current context */
    use(contexts[4]);
    CHECK(!devices_opened(2) && devices_current() == 2 && devices_opened(2)); /* the library did not see it made */
    use(contexts[5]);
    CHECK(devices_current() == -1); /* on a device beyond the slots */
    use(NULL);
    CHECK(devices_current() == -1 && devices_of_stream(0) == -1);
}

/* The thread has no context before and after. A context that answers with an error has no work left. */
static void drains(void)
{
    devices_synchronise(0);
    CHECK(synchronised[1] == 1 && synchronised[2] == 1 && synchronised[3] == 0 && !current());
    synchronise_result = CUDA_ERROR_ILLEGAL_ADDRESS;
    devices_synchronise(0);
    CHECK(synchronised[1] == 2 && synchronised[2] == 2 && has_error("could not be drained"));
    synchronise_result = CUDA_SUCCESS;
    REFUSE(cuCtxPushCurrent_v2, CUDA_ERROR_INVALID_VALUE);
    devices_synchronise(0);
    CHECK(synchronised[1] == 2 && !devices_enter(0) && has_error("could not be entered"));
    REFUSE(cuCtxPushCurrent_v2, CUDA_SUCCESS);
    CHECK(!devices_busy(0) && queried == 2);
    query_result = CUDA_ERROR_NOT_READY;
    CHECK(devices_busy(0) && !devices_busy(1));
    query_result = CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK(!devices_busy(0) && !current());
}

static void *drain_first(void *unused)
{
    (void)unused;
    devices_synchronise(0);
    return NULL;
}

static unsigned closing;

static void *close_first(void *unused)
{
    (void)unused;
    CHECK(devices_context_closing(contexts[1]) == 0);
    __atomic_store_n(&closing, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A context does not end while a drain is inside it, and a drain waits until it is known whether one has ended. */
static void ends(void)
{
    pthread_t drainer, closer;
    CHECK(devices_context_closing(UNKNOWN(8)) == -1 && devices_context_closing(NULL) == -1);
    held_at = 1;
    CHECK(pthread_create(&drainer, NULL, drain_first, NULL) == 0);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != 1)
        usleep(100);
    CHECK(pthread_create(&closer, NULL, close_first, NULL) == 0);
    usleep(20000);
    CHECK(!__atomic_load_n(&closing, __ATOMIC_ACQUIRE));
    __atomic_store_n(&held_at, 0, __ATOMIC_RELEASE);
    pthread_join(drainer, NULL);
    pthread_join(closer, NULL);
    CHECK(closing == 1 && devices_enter(0) == contexts[2]); /* not the one that is about to end */
    devices_leave(contexts[2]);

    unsigned before = synchronised[1];
    CHECK(pthread_create(&drainer, NULL, drain_first, NULL) == 0);
    usleep(20000);
    CHECK(__atomic_load_n(&synchronised[1], __ATOMIC_RELAXED) == before);
    devices_context_closed(contexts[1], false); /* the driver refused: it lives on */
    pthread_join(drainer, NULL);
    CHECK(synchronised[1] == before + 1 && slot(0)->contexts == 2);
    CHECK(devices_context_closing(contexts[1]) == 0);
    devices_context_closed(contexts[1], true);
    CHECK(slot(0)->contexts == 1);
    devices_synchronise(0);
    CHECK(synchronised[1] == before + 1);
}

static void *close_also(void *device)
{
    *(int *)device = devices_context_closing(contexts[2]);
    return NULL;
}

/* Two threads end one context. Its slot has another context before the second one goes on. */
static void ends_twice(void)
{
    pthread_t closer;
    int device = 99;
    unsigned before = slot(0)->contexts;
    CHECK(devices_context_closing(contexts[2]) == 0 && pthread_create(&closer, NULL, close_also, &device) == 0);
    usleep(20000); /* the second one waits */
    devices_context_closed(contexts[2], true);
    devices_context_opened(UNKNOWN(7), 0);
    pthread_join(closer, NULL);
    CHECK(device == -1 && slot(0)->contexts == before);
    CHECK(devices_context_closing(UNKNOWN(7)) == 0);
    devices_context_closed(UNKNOWN(7), true);
    devices_primary_opened(contexts[2], 0);
}

static void reaches(void)
{
    CHECK(devices_reach(0, 1) && !devices_apart());
    cut = 2;
    CHECK(devices_reach(2, 1) && !devices_reach(1, 2) && devices_apart());
}

static void too_many(void)
{
    for (unsigned i = 100; i < 100 + 256; i++)
        devices_context_opened(UNKNOWN(i), 0);
    CHECK(has_error("the rest are not drained") && slot(0)->contexts < 256);
}

static void forked(void)
{
    devices_forked();
    CHECK(devices_opened_count() == 0 && !devices_opened(0) && !gate_sole && devices_context_closing(contexts[2]) == -1);
}

int main(void)
{
    alarm(HANGS_S);
    CHECK(segment_open());
    driver_load();
    make_contexts();
    HOOK(cuCtxSynchronize, synchronise);
    HOOK(cuStreamQuery, query);
    HOOK(cuStreamGetCtx, context_of_stream);
    HOOK(cuDeviceGetUuid, older_uuid);
    HOOK(cuCtxGetDevice, device_of_current);
    HOOK(cuDeviceCanAccessPeer, can_reach);
    devices_first(open_first);
    opens();
    finds();
    drains();
    ends();
    ends_twice();
    reaches();
    too_many();
    forked();
    return 0;
}
