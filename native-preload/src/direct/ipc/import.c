#include "direct/ipc/import.h"

#include <pthread.h>
#include <string.h>

#include "direct/turns/capture.h"
#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/ipc/export.h"
#include "direct/ipc/mapping.h"
#include "direct/memory/memory.h"
#include "session/monotonic_condition.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "session/settings.h"

/* Imported memory: open, or being opened or closed by a thread. */
struct opened {
    struct opened *next;
    struct ipc_handle handle;
    struct ipc_mapping mapping;
    uint64_t context;
    uint64_t id;
    uint32_t references;
    uint32_t accessing; /* devices with access: one bit for each */
    bool ready;         /* false: used only by the thread that opens it */
};

static struct record_pool records = {.bytes = sizeof(struct opened)};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct opened *all;
static struct opened *closing; /* closed during a capture, which a wait would invalidate; unmapped later */
static unsigned count;         /* length of `all`; read without the lock */

static void prepare(void)
{
    condition_prepare(&changed);
}

/* With the lock. */
static void enter(struct opened *opened)
{
    opened->next = all;
    all = opened;
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
}

/* With the lock. */
static void take_out(struct opened *opened)
{
    struct opened **at = &all;
    while (*at != opened)
        at = &(*at)->next;
    *at = opened->next;
    __atomic_store_n(&count, count - 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
}

static struct opened *by_handle(const struct ipc_handle *handle)
{
    struct opened *opened = all;
    while (opened && memcmp(&opened->handle, handle, sizeof *handle) != 0)
        opened = opened->next;
    return opened;
}

static CUdeviceptr address(const struct opened *opened)
{
    return opened->mapping.base + opened->mapping.offset;
}

/* Without the lock: waits for work that may use the memory. False: a capture is open, which the wait would invalidate. */
static bool quiesce(const struct opened *opened, CUresult *result)
{
    if (!capture_shield_wait())
        return false;
    *result = CUDA_SUCCESS;
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++) {
        CUresult idle = (opened->accessing >> i & 1) && devices_opened((unsigned)i) ? swap_quiesce((unsigned)i)
                                                                                    : CUDA_SUCCESS;
        if (idle != CUDA_SUCCESS)
            *result = idle;
    }
    capture_unshield();
    return true;
}

/* Without the lock: unmaps memory that was taken out of the list: now, or as soon as no capture is open. */
static CUresult end(struct opened *opened)
{
    CUresult result = CUDA_SUCCESS;
    bool idle = quiesce(opened, &result);
    if (idle)
        ipc_mapping_end(&opened->mapping);
    pthread_mutex_lock(&lock);
    if (idle) {
        record_give(&records, opened);
    } else {
        opened->next = closing;
        closing = opened;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Unmaps memory that was closed during a capture. */
static void end_late(void)
{
    while (!capture_open_any()) {
        pthread_mutex_lock(&lock);
        struct opened *opened = closing;
        if (opened)
            closing = opened->next;
        pthread_mutex_unlock(&lock);
        if (!opened)
            return;
        end(opened);
    }
}

/* With the lock, which is released meanwhile: waits while another thread opens the handle. False: time is up. */
static bool await_ready(const struct ipc_handle *handle, uint64_t until_ns)
{
    bool in_time = true;
    const struct opened *opened;
    while ((opened = by_handle(handle)) && !opened->ready && in_time)
        in_time = condition_wait(&changed, &lock, until_ns);
    return !opened || opened->ready;
}

/* Gives the device access to memory that is ready and referenced; the memory may have been opened first on another device. */
static CUresult let_access(struct opened *opened, int device)
{
    uint32_t bit = 1u << device;
    if (__atomic_load_n(&opened->accessing, __ATOMIC_ACQUIRE) & bit)
        return CUDA_SUCCESS;
    CUresult result = ipc_mapping_access(&opened->mapping, device);
    if (result == CUDA_SUCCESS)
        __atomic_fetch_or(&opened->accessing, bit, __ATOMIC_ACQ_REL);
    return result;
}

/* Without the lock: maps the memory of a new entry, which is in the list and not ready. */
static CUresult fill(struct opened *opened, int device, bool peers, uint64_t until_ns)
{
    struct ipc_mapping *mapping = &opened->mapping;
    CUresult result = ipc_mapping_make(&opened->handle, until_ns, mapping);
    if (result != CUDA_SUCCESS)
        return result;
    opened->context = memory_context();
    opened->id = swap_new_id();
    bool reads_here = device == mapping->device || peers;
    result = reads_here ? let_access(opened, device) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && (!reads_here || devices_opened((unsigned)mapping->device)))
        result = let_access(opened, mapping->device);
    if (result != CUDA_SUCCESS)
        ipc_mapping_end(mapping);
    return result;
}

static CUresult open_new(struct opened *opened, int device, bool peers, uint64_t until_ns, CUdeviceptr *pointer)
{
    CUresult result = fill(opened, device, peers, until_ns);
    pthread_mutex_lock(&lock);
    if (result == CUDA_SUCCESS) {
        *pointer = address(opened);
        opened->ready = true;
        pthread_cond_broadcast(&changed);
    } else {
        take_out(opened);
        record_give(&records, opened);
    }
    pthread_mutex_unlock(&lock);
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_OPERATING_SYSTEM)
        report_line("memory of another process could not be opened (CUDA IPC, error %d): that process has ended or does not "
                    "answer, or the memory is freed",
                    result);
    return result;
}

CUresult ipc_import(CUdeviceptr *pointer, const struct ipc_handle *handle, unsigned flags)
{
    uint64_t until_ns = monotonic_ns() + settings()->memory_wait_ns;
    CUdevice device = -1;
    if (!pointer || (flags & ~(unsigned)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        return CUDA_ERROR_INVALID_VALUE;
    if (REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS || device < 0 || device >= TESSERA_MAX_DEVICES ||
        ipc_exported_here(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    pthread_once(&once, prepare);
    end_late();
    bool peers = flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    pthread_mutex_lock(&lock);
    bool in_time = await_ready(handle, until_ns);
    struct opened *opened = in_time ? by_handle(handle) : NULL;
    bool known = opened != NULL;
    if (known) {
        opened->references++;
    } else if (in_time && (opened = record_take(&records))) {
        opened->handle = *handle;
        opened->references = 1;
        enter(opened);
    }
    pthread_mutex_unlock(&lock);
    if (!in_time)
        return CUDA_ERROR_OPERATING_SYSTEM;
    if (!opened)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!known)
        return open_new(opened, device, peers, until_ns, pointer);
    CUresult result = peers ? let_access(opened, device) : CUDA_SUCCESS;
    *pointer = address(opened);
    bool ours;
    if (result != CUDA_SUCCESS)
        ipc_import_close(*pointer, &ours);
    return result;
}

CUresult ipc_import_close(CUdeviceptr pointer, bool *ours)
{
    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0) {
        *ours = false;
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    struct opened *opened = all;
    while (opened && (!opened->ready || address(opened) != pointer))
        opened = opened->next;
    *ours = opened != NULL;
    bool last = opened && --opened->references == 0;
    if (last)
        take_out(opened);
    pthread_mutex_unlock(&lock);
    CUresult result = last ? end(opened) : CUDA_SUCCESS;
    end_late();
    return result;
}

bool ipc_import_find(CUdeviceptr inside, struct swap_range *range)
{
    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0)
        return false;
    pthread_mutex_lock(&lock);
    const struct opened *opened = all;
    while (opened && (!opened->ready || inside - address(opened) >= opened->mapping.allocation_bytes))
        opened = opened->next;
    if (opened)
        *range = (struct swap_range){.base = address(opened),
                                     .bytes = opened->mapping.allocation_bytes,
                                     .device = (unsigned)opened->mapping.device,
                                     .kind = SWAP_IMPORTED,
                                     .fixed = true,
                                     .context = opened->context,
                                     .id = opened->id};
    pthread_mutex_unlock(&lock);
    return opened != NULL;
}

void ipc_import_context_ended(const void *context)
{
    for (;;) {
        if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0)
            return;
        pthread_mutex_lock(&lock);
        struct opened *opened = all;
        while (opened && (!opened->ready || opened->context != (uint64_t)(uintptr_t)context))
            opened = opened->next;
        if (opened)
            take_out(opened);
        pthread_mutex_unlock(&lock);
        if (!opened)
            return;
        ipc_mapping_end(&opened->mapping); /* work that used it has ended with the context */
        pthread_mutex_lock(&lock);
        record_give(&records, opened);
        pthread_mutex_unlock(&lock);
    }
}

void ipc_import_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_once(&once, prepare);
    prepare();
    all = closing = NULL;
    count = 0;
}
