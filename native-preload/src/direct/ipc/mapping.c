#include "direct/ipc/mapping.h"

#include <string.h>
#include <unistd.h>

#include "direct/ipc/client.h"
#include "session/report.h"
#include "tessera_entries.h"

/* The ordinal of the device with this UUID in this process; -1: the process does not see it. */
static int device_of(const uint8_t uuid[16])
{
    int count = 0;
    if (REAL(cuDeviceGetCount)(&count) != CUDA_SUCCESS)
        return -1;
    for (int i = 0; i < count; i++) {
        uint8_t known[16];
        if (REAL(cuDeviceGetUuid_v2)((void *)known, i) != CUDA_SUCCESS &&
            REAL(cuDeviceGetUuid)((void *)known, i) != CUDA_SUCCESS)
            continue;
        if (memcmp(known, uuid, sizeof known) == 0)
            return i;
    }
    return -1;
}

/* Maps one chunk and releases the handle, so that the mapping alone keeps the memory. */
static CUresult map_one(CUdeviceptr at, uint64_t bytes, int descriptor)
{
    unsigned long long handle;
    CUresult result = REAL(cuMemImportFromShareableHandle)((void *)&handle, (void *)(intptr_t)descriptor,
                                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result != CUDA_SUCCESS)
        return result;
    result = REAL(cuMemMap)(at, bytes, 0, handle, 0);
    CUresult released = REAL(cuMemRelease)(handle);
    return result != CUDA_SUCCESS ? result : released;
}

/* Maps an answer's chunks from *mapped on, and closes their descriptors. */
static CUresult map_answer(const struct ipc_mapping *mapping, const struct ipc_answer *answer, int *descriptors,
                           uint64_t *mapped)
{
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < answer->sent; i++) {
        uint64_t bytes = answer->chunk_bytes[i];
        if (result == CUDA_SUCCESS && bytes > mapping->bytes - *mapped)
            result = CUDA_ERROR_INVALID_HANDLE;
        if (result == CUDA_SUCCESS)
            result = map_one(mapping->base + *mapped, bytes, descriptors[i]);
        if (result == CUDA_SUCCESS)
            *mapped += bytes;
        close(descriptors[i]);
    }
    return result;
}

/* Reserves addresses for all chunks, whose size and device the first answer has. */
static CUresult reserve(struct ipc_mapping *mapping, const struct ipc_answer *answer)
{
    mapping->device = device_of(answer->device);
    if (mapping->device < 0) {
        report_line("another process's memory cannot be opened: this one does not see its GPU (CUDA_VISIBLE_DEVICES)");
        return CUDA_ERROR_INVALID_DEVICE;
    }
    mapping->bytes = answer->bytes;
    mapping->offset = answer->offset;
    mapping->allocation_bytes = answer->allocation_bytes;
    return REAL(cuMemAddressReserve)(&mapping->base, mapping->bytes, 0, 0, 0);
}

static void unmap(const struct ipc_mapping *mapping, uint64_t mapped)
{
    CUresult result = mapped ? REAL(cuMemUnmap)(mapping->base, mapped) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && mapping->base)
        result = REAL(cuMemAddressFree)(mapping->base, mapping->bytes);
    report_failure(result, "another process's memory could not be closed: it stays mapped");
}

CUresult ipc_mapping_make(const struct ipc_handle *handle, uint64_t until_ns, struct ipc_mapping *mapping)
{
    struct ipc_client client;
    struct ipc_answer answer = {.chunks = 1};
    int descriptors[IPC_BATCH];
    uint64_t mapped = 0;
    *mapping = (struct ipc_mapping){.device = -1};
    CUresult result = ipc_client_open(&client, handle, until_ns);
    for (uint32_t first = 0; result == CUDA_SUCCESS && first < answer.chunks; first += answer.sent) {
        result = ipc_client_ask(&client, first, &answer, descriptors);
        if (result != CUDA_SUCCESS)
            break;
        result = first == 0 ? reserve(mapping, &answer) : CUDA_SUCCESS;
        if (result == CUDA_SUCCESS)
            result = map_answer(mapping, &answer, descriptors, &mapped);
        else
            for (uint32_t i = 0; i < answer.sent; i++)
                close(descriptors[i]);
    }
    ipc_client_close(&client);
    if (result == CUDA_SUCCESS && mapped != mapping->bytes)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        unmap(mapping, mapped);
    return result;
}

CUresult ipc_mapping_access(const struct ipc_mapping *mapping, int device)
{
    struct driver_access access = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int reaches = device == mapping->device;
    if (!reaches && REAL(cuDeviceCanAccessPeer)(&reaches, device, mapping->device) != CUDA_SUCCESS)
        reaches = 0;
    return reaches ? REAL(cuMemSetAccess)(mapping->base, mapping->bytes, (void *)&access, 1)
                   : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

void ipc_mapping_end(const struct ipc_mapping *mapping)
{
    unmap(mapping, mapping->bytes);
}
