/* Which contexts are on which device: how they are found, drained, and end. */
#include "direct/turns/devices.h"

#include "fake_driver.h"
#include "session/segment.h"

#define CONTEXT FAKE_CONTEXT_OF

/* What the driver does besides what the fake one does. */
static unsigned synchronised[FAKE_CONTEXTS], queried; /* calls, the first by the number of a context */
static CUresult push_result, query_result, synchronise_result, uuid_v2_result;
static unsigned held_at, arrived; /* a synchronisation of this context waits until it is 0 */

static CUresult push(CUcontext context)
{
    return push_result == CUDA_SUCCESS ? fake_cuCtxPushCurrent_v2(context) : push_result;
}

static CUresult synchronise(void)
{
    unsigned number = fake_number_of(fake_current);
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
    return fake_number_of(fake_current) == 2 ? query_result : CUDA_SUCCESS;
}

static CUresult context_of_stream(CUstream stream, CUcontext *context)
{
    *context = (uintptr_t)stream == 0x77 ? CONTEXT(3) : NULL;
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult uuid_v2(void *to, CUdevice device)
{
    return uuid_v2_result == CUDA_SUCCESS ? fake_cuDeviceGetUuid_v2(to, device) : uuid_v2_result;
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
    CHECK(devices_current() == -1 && devices_opened_count() == 0 && !gate_sole);
    devices_context_opened(NULL, 0);
    CHECK(devices_opened_count() == 0);
    devices_context_opened(CONTEXT(1), 0);
    CHECK(devices_opened(0) && devices_opened_count() == 1 && first[0] == 1 && slot(0)->contexts == 1);
    CHECK(slot(0)->total_bytes == FAKE_MEMORY && slot(0)->uuid[0] == 0x60 && strcmp(slot(0)->name, "device 0") == 0);
    CHECK(!gate_sole || gate_sole == slot(0)); /* none where membarrier() is missing */
    devices_context_opened(CONTEXT(1), 0);
    CHECK(slot(0)->contexts == 1);
    devices_primary_opened(CONTEXT(2), 0);
    CHECK(slot(0)->contexts == 2 && first[0] == 1 && devices_primary(0) == CONTEXT(2) && !devices_primary(1));
    CHECK(devices_of_stream(0x77) == (gate_sole ? 0 : -1)); /* with one device there is nothing to look up */

    uuid_v2_result = CUDA_ERROR_NOT_SUPPORTED; /* a driver without the newer entry */
    devices_context_opened(CONTEXT(3), 1);
    CHECK(devices_opened_count() == 2 && first[1] == 1 && !gate_sole && slot(1)->uuid[0] == 0x41);
    devices_context_opened(CONTEXT(9), TESSERA_MAX_DEVICES);
    CHECK(devices_opened_count() == 2 && has_error("is beyond the"));
}

static void finds(void)
{
    fake_current = CONTEXT(1);
    CHECK(devices_current() == 0 && devices_of_stream(0) == 0);
    CHECK(devices_of_stream(0x77) == 1); /* of context 3 */
    CHECK(devices_of_stream(0x88) == 0); /* not known to the driver: as the current context */
    fake_current = CONTEXT(4);
    CHECK(!devices_opened(2) && devices_current() == 2 && devices_opened(2)); /* it was made out of our sight */
    fake_current = CONTEXT(5);
    CHECK(devices_current() == -1); /* on a device beyond the slots */
    fake_current = NULL;
    CHECK(devices_current() == -1 && devices_of_stream(0) == -1);
}

/* The thread has no context before and after. What answers with an error has no work left. */
static void drains(void)
{
    devices_synchronise(0);
    CHECK(synchronised[1] == 1 && synchronised[2] == 1 && synchronised[3] == 0 && !fake_current);
    synchronise_result = CUDA_ERROR_ILLEGAL_ADDRESS;
    devices_synchronise(0);
    CHECK(synchronised[1] == 2 && synchronised[2] == 2 && has_error("could not be drained"));
    synchronise_result = CUDA_SUCCESS;
    push_result = CUDA_ERROR_INVALID_VALUE;
    devices_synchronise(0);
    CHECK(synchronised[1] == 2 && !devices_enter(0) && has_error("could not be entered"));
    push_result = CUDA_SUCCESS;
    CHECK(!devices_busy(0) && queried == 2);
    query_result = CUDA_ERROR_NOT_READY;
    CHECK(devices_busy(0) && !devices_busy(1));
    query_result = CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK(!devices_busy(0) && !fake_current);
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
    CHECK(devices_context_closing(CONTEXT(1)) == 0);
    __atomic_store_n(&closing, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A context does not end while a drain is inside it, and a drain waits until it is known whether one has ended. */
static void ends(void)
{
    pthread_t drainer, closer;
    CHECK(devices_context_closing(CONTEXT(8)) == -1 && devices_context_closing(NULL) == -1);
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
    CHECK(closing == 1 && devices_enter(0) == CONTEXT(2)); /* not the one that is about to end */
    devices_leave(CONTEXT(2));

    unsigned before = synchronised[1];
    CHECK(pthread_create(&drainer, NULL, drain_first, NULL) == 0);
    usleep(20000);
    CHECK(__atomic_load_n(&synchronised[1], __ATOMIC_RELAXED) == before);
    devices_context_closed(CONTEXT(1), false); /* the driver refused: it lives on */
    pthread_join(drainer, NULL);
    CHECK(synchronised[1] == before + 1 && slot(0)->contexts == 2);
    CHECK(devices_context_closing(CONTEXT(1)) == 0);
    devices_context_closed(CONTEXT(1), true);
    CHECK(slot(0)->contexts == 1);
    devices_synchronise(0);
    CHECK(synchronised[1] == before + 1);
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
        devices_context_opened(CONTEXT(i), 0);
    CHECK(has_error("the rest are not drained") && slot(0)->contexts < 256);
}

static void forked(void)
{
    devices_forked();
    CHECK(devices_opened_count() == 0 && !devices_opened(0) && !gate_sole && devices_context_closing(CONTEXT(2)) == -1);
}

int main(void)
{
    alarm(SANITIZED ? 600 : 60);
    CHECK(segment_open());
    fake_driver();
    fake_current = NULL;
    fake.device_of[3] = 1;
    fake.device_of[4] = 2;
    fake.device_of[5] = TESSERA_MAX_DEVICES;
    FAKE(cuCtxPushCurrent_v2, push);
    FAKE(cuCtxSynchronize, synchronise);
    FAKE(cuStreamQuery, query);
    FAKE(cuStreamGetCtx, context_of_stream);
    FAKE(cuDeviceGetUuid_v2, uuid_v2);
    FAKE(cuDeviceCanAccessPeer, can_reach);
    devices_first(open_first);
    opens();
    finds();
    drains();
    ends();
    reaches();
    too_many();
    forked();
    return 0;
}
