#include "direct/entry/pointer_facts.h"

#include <string.h>

#include "direct/chunks/chunks.h"
#include "direct/pools/pools.h"

size_t pointer_fact_bytes(int attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return sizeof(int);
    default:
        return sizeof(uint64_t);
    }
}

/* The attribute's value; false: such memory has no such attribute. */
static bool value_of(const struct swap_range *range, CUdeviceptr pointer, int attribute, uint64_t *value)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *value = range->context;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = CU_MEMORYTYPE_DEVICE;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *value = pointer;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *value = range->id;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = range->device;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *value = range->base;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *value = range->bytes;
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *value = 1;
        return true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *value = range->kind == SWAP_PROGRAM ? range->tag : 0;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *value = range->kind == SWAP_LINEAR && chunk_shareable_supported(range->device);
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *value = 0;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *value = range->kind == SWAP_POOLED ? (uint64_t)(uintptr_t)pools_handle_of(range->tag) : 0;
        return true;
    default:
        return false;
    }
}

CUresult pointer_fact(const struct swap_range *range, CUdeviceptr pointer, int attribute, void *data)
{
    uint64_t value;
    if (!data || !value_of(range, pointer, attribute, &value))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, pointer_fact_bytes(attribute)); /* little endian: the low half is the narrow value */
    return CUDA_SUCCESS;
}
