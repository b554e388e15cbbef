/* Virtual memory management: address ranges, physical memory, mappings; and handles other processes can open. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contexts/checkpoint.h"
#include "entry.h"
#include "memory/memory.h"
#include "script/witness.h"

static const size_t granularity = 2 << 20;
enum { COUNTER_BYTES = 4096 };
static const unsigned PRESENT_AT_ONCE = 8; /* references; what is mapped more often is mapped behind everything else */

EXPORT CUresult cuMemGetAllocationGranularity(size_t *out, const struct allocation_properties *properties, int option)
{
    ENTER(cuMemGetAllocationGranularity);
    if (!out || !properties || option < 0 || option > 1)
        return ERROR_INVALID_VALUE;
    *out = granularity;
    return OK;
}

EXPORT CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr wish,
                                    unsigned long long flags)
{
    ENTER(cuMemAddressReserve);
    if (!out || bytes == 0 || bytes % granularity || flags || (alignment & (alignment - 1)))
        return ERROR_INVALID_VALUE;
    LOCKED;
    *out = range_take(bytes, alignment > granularity ? alignment : granularity, wish);
    return *out ? OK : ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemAddressFree(CUdeviceptr base, size_t bytes)
{
    ENTER(cuMemAddressFree);
    LOCKED;
    if (!range_reserved(base, bytes))
        return ERROR_INVALID_VALUE;
    size_t i = 0;
    for (const struct allocation *a = allocation_each(&i); a; a = allocation_each(&i))
        if (a->base >= base && a->base < base + bytes)
            return ERROR_INVALID_VALUE; /* still mapped */
    range_give(base);
    return OK;
}

/* A memory file is named after its GPU, so that a process that imports it knows whose memory it is. */
#define MEMORY_FILE "scripted-memory-%d"

static int memory_file_new(int device)
{
    char name[32];
    snprintf(name, sizeof name, MEMORY_FILE, script.gpu[device]);
    return memfd_create(name, MFD_CLOEXEC);
}

/* Full of garbage, as a driver's memory may be; the counter behind it is 0. -1: there is none. */
static int physical_memory(int device, size_t bytes)
{
    static const unsigned char garbage[1 << 16] = {[0 ...(1 << 16) - 1] = 0xa5};
    int fd = memory_file_new(device);
    bool made = fd >= 0 && ftruncate(fd, (off_t)(bytes + COUNTER_BYTES)) == 0;
    for (size_t at = 0; made && at < bytes; at += sizeof garbage)
        made = write(fd, garbage, sizeof garbage) == sizeof garbage;
    if (fd >= 0 && !made)
        close(fd);
    return made ? fd : -1;
}

/* The device whose memory it is; -1: this process does not see it, or it is something else. */
static int device_of_file(int fd)
{
    char link[64], name[64];
    int gpu = -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length <= 0)
        return -1;
    name[length] = '\0';
    if (sscanf(name, "/memfd:" MEMORY_FILE, &gpu) != 1)
        return -1;
    for (int i = 0; i < script.devices; i++)
        if (script.gpu[i] == gpu)
            return i;
    return -1;
}

/*
 * Behind the memory, one page of its file says which process counts it: its maker, or, once that has released it, one that
 * has it from there. With `wish` 0 the process counts it no longer. True: the page has become `wish`.
 */
static bool set_counter(const struct memory_object *o, int wish)
{
    _Atomic int *counter = mmap(NULL, COUNTER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, (off_t)o->bytes);
    if (counter == MAP_FAILED)
        return false;
    int present = wish ? atomic_load(counter) : (int)getpid();
    bool gone = !present || (kill(present, 0) != 0 && errno == ESRCH);
    bool set = (!wish || gone) && atomic_compare_exchange_strong(counter, &present, wish);
    munmap((void *)counter, COUNTER_BYTES);
    return set;
}

/* Whether the program has a handle of it. One that is released is none any more, whatever is still mapped. */
static bool object_usable(const struct memory_object *o)
{
    return handle_is(HANDLE_MEMORY, o) && o->handles > 0;
}

static void object_unreference(struct memory_object *o)
{
    if (--o->references > 0)
        return;
    if (o->counted) {
        set_counter(o, 0);
        witness_give(o->device, o->bytes);
    }
    if (o->imported)
        checkpoint_holds(CHECKPOINT_IMPORTS, -1);
    close(o->fd);
    handle_drop(HANDLE_MEMORY, o);
    free(o);
}

EXPORT CUresult cuMemCreate(struct memory_object **out, size_t bytes, const struct allocation_properties *properties,
                            unsigned long long flags)
{
    ENTER(cuMemCreate);
    if (!out || !properties || flags || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || bytes == 0 ||
        bytes % granularity)
        return ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return ERROR_NOT_SUPPORTED; /* host memory */
    if (properties->requested_handle_types & CU_MEM_HANDLE_TYPE_FABRIC)
        return ERROR_NOT_PERMITTED; /* as without a fabric manager */
    int device = properties->location.id;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    if (!witness_take(device, bytes, devices[device].total_bytes))
        return ERROR_OUT_OF_MEMORY;
    struct memory_object *o = calloc(1, sizeof *o);
    int fd = o ? physical_memory(device, bytes) : -1; /* takes its time: others may call meanwhile */
    if (fd < 0) {
        free(o);
        witness_give(device, bytes);
        return ERROR_OUT_OF_MEMORY;
    }
    LOCKED;
    *o = (struct memory_object){.fd = fd,
                                .bytes = bytes,
                                .device = device,
                                .handles = 1,
                                .references = 1,
                                .counted = true,
                                .properties = *properties};
    set_counter(o, (int)getpid());
    handle_add(HANDLE_MEMORY, o);
    *out = o;
    return OK;
}

EXPORT CUresult cuMemRelease(struct memory_object *o)
{
    ENTER(cuMemRelease);
    LOCKED;
    if (!object_usable(o))
        return ERROR_INVALID_VALUE;
    o->handles--;
    object_unreference(o);
    return OK;
}

/* Memory that no device may access the host cannot access either. */
static int protection(const struct allocation *a)
{
    if (a->access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE || (a->peers & ~(1u << a->device)))
        return PROT_READ | PROT_WRITE;
    return a->access ? PROT_READ : PROT_NONE;
}

bool mapping_present(struct allocation *a)
{
    if (!a->present)
        a->present = mmap((void *)(uintptr_t)a->base, a->bytes, protection(a), MAP_FIXED | MAP_SHARED, a->object->fd,
                          0) != MAP_FAILED;
    return a->present;
}

EXPORT CUresult cuMemMap(CUdeviceptr base, size_t bytes, size_t offset, struct memory_object *o,
                         unsigned long long flags)
{
    ENTER(cuMemMap);
    LOCKED;
    /* The whole handle from its beginning: more is not available on an H200, whatever the manual allows. */
    if (!object_usable(o) || flags || offset != 0 || bytes == 0 || bytes != o->bytes || base % granularity ||
        bytes % granularity || !range_reserved(base, bytes))
        return ERROR_INVALID_VALUE;
    if (allocation_of(base) || allocation_of(base + bytes - 1))
        return ERROR_INVALID_VALUE;
    struct allocation *a = allocation_add(base, bytes, ALLOCATION_MAPPED, NULL);
    a->device = o->device;
    a->object = o;
    if (o->references < PRESENT_AT_ONCE && !mapping_present(a)) {
        allocation_remove(a);
        return ERROR_MAP_FAILED;
    }
    o->references++;
    return OK;
}

EXPORT CUresult cuMemUnmap(CUdeviceptr base, size_t bytes)
{
    ENTER(cuMemUnmap);
    LOCKED;
    for (CUdeviceptr at = base; at < base + bytes;) {
        struct allocation *a = allocation_at(at);
        if (!a || a->kind != ALLOCATION_MAPPED || a->base + a->bytes > base + bytes)
            return ERROR_INVALID_VALUE;
        at += a->bytes;
    }
    for (int d = 0; d < script.devices; d++)
        for (struct context *c = context_first(d); c; c = context_next(c))
            if (context_valid(c))
                context_wait(c);
    for (CUdeviceptr at = base; at < base + bytes;) {
        struct allocation *a = allocation_at(at);
        if (!a)
            return ERROR_INVALID_VALUE; /* another thread unmapped it meanwhile */
        at += a->bytes;
        if (a->present && mmap((void *)(uintptr_t)a->base, a->bytes, PROT_NONE,
                               MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
            return ERROR_MAP_FAILED;
        object_unreference(a->object);
        allocation_remove(a);
    }
    return OK;
}

EXPORT CUresult cuMemSetAccess(CUdeviceptr base, size_t bytes, const struct access_descriptor *access, size_t count)
{
    ENTER(cuMemSetAccess);
    LOCKED;
    if (!access || count == 0)
        return ERROR_INVALID_VALUE;
    for (CUdeviceptr at = base; at < base + bytes;) {
        struct allocation *a = allocation_of(at);
        if (!a || a->kind != ALLOCATION_MAPPED)
            return ERROR_INVALID_VALUE;
        for (size_t i = 0; i < count; i++) {
            if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device_valid(access[i].location.id))
                return ERROR_INVALID_VALUE;
            unsigned bit = 1u << access[i].location.id;
            if (access[i].location.id == a->device)
                a->access = access[i].flags;
            a->peers = access[i].flags ? a->peers | bit : a->peers & ~bit;
        }
        if (a->present && mprotect((void *)(uintptr_t)a->base, a->bytes, protection(a)) != 0)
            return ERROR_UNKNOWN;
        at = a->base + a->bytes;
    }
    return OK;
}

EXPORT CUresult cuMemGetAccess(unsigned long long *flags, const struct location *location, CUdeviceptr pointer)
{
    ENTER(cuMemGetAccess);
    LOCKED;
    const struct allocation *a = allocation_of(pointer);
    if (!flags || !location || !a || a->kind != ALLOCATION_MAPPED)
        return ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !device_valid(location->id))
        return ERROR_INVALID_VALUE;
    *flags = location->id == a->device ? (unsigned long long)a->access : a->peers >> location->id & 1 ? 3 : 0;
    return OK;
}

EXPORT CUresult cuMemRetainAllocationHandle(struct memory_object **out, void *address)
{
    ENTER(cuMemRetainAllocationHandle);
    LOCKED;
    const struct allocation *a = allocation_of((CUdeviceptr)(uintptr_t)address);
    if (!out || !a || a->kind != ALLOCATION_MAPPED)
        return ERROR_INVALID_VALUE;
    a->object->handles++;
    a->object->references++;
    *out = a->object;
    return OK;
}

EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(struct allocation_properties *out, struct memory_object *o)
{
    ENTER(cuMemGetAllocationPropertiesFromHandle);
    LOCKED;
    if (!out || !object_usable(o))
        return ERROR_INVALID_VALUE;
    *out = o->properties;
    return OK;
}

EXPORT CUresult cuMemExportToShareableHandle(void *out, struct memory_object *o, int type, unsigned long long flags)
{
    ENTER(cuMemExportToShareableHandle);
    LOCKED;
    if (!out || !object_usable(o) || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !(o->properties.requested_handle_types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ||
        o->imported) /* as seen on an H200 */
        return ERROR_INVALID_VALUE;
    int fd = dup(o->fd);
    if (fd < 0)
        return ERROR_OPERATING_SYSTEM;
    *(int *)out = fd;
    return OK;
}

EXPORT CUresult cuMemImportFromShareableHandle(struct memory_object **out, void *handle, int type)
{
    ENTER(cuMemImportFromShareableHandle);
    LOCKED;
    struct stat s;
    int fd = type == 1 ? dup((int)(intptr_t)handle) : -1;
    int device = fd < 0 ? -1 : device_of_file(fd);
    struct memory_object *o = calloc(1, sizeof *o);
    if (!out || !o || device < 0 || fstat(fd, &s) != 0 || s.st_size <= COUNTER_BYTES) {
        if (fd >= 0)
            close(fd);
        free(o);
        return ERROR_INVALID_VALUE;
    }
    *o = (struct memory_object){.fd = fd,
                                .bytes = (size_t)s.st_size - COUNTER_BYTES,
                                .device = device,
                                .handles = 1,
                                .references = 1,
                                .imported = true};
    o->properties = (struct allocation_properties){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                   .requested_handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                   .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    o->counted = set_counter(o, (int)getpid()) && witness_take(device, o->bytes, UINT64_MAX);
    checkpoint_holds(CHECKPOINT_IMPORTS, 1);
    handle_add(HANDLE_MEMORY, o);
    *out = o;
    return OK;
}
