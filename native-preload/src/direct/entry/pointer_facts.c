#include "direct/entry/pointer_facts.h"

#include <string.h>

#include "direct/chunks/chunks.h"
#include "direct/pools/pools.h"

/* CUpointer_attribute; those of CU_POINTER_ATTRIBUTE_* in driver_types.h are its as well. */
enum {
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    DEVICE_ORDINAL = 9,
    IPC_CAPABLE = 10,
    RANGE_SIZE = 12,
    MAPPED = 13,
    HANDLE_TYPES = 14,
    RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    MAPPING_SIZE = 18,
    MAPPING_BASE = 19,
    BLOCK_ID = 20,
};

#define MEMORY_TYPE_DEVICE 2u /* CU_MEMORYTYPE_DEVICE */

size_t pointer_fact_bytes(int attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case DEVICE_ORDINAL:
    case IPC_CAPABLE:
    case MAPPED:
    case RDMA_CAPABLE:
    case ACCESS_FLAGS:
        return sizeof(int);
    default:
        return sizeof(uint64_t);
    }
}

/* The value, in the width of the attribute; false: such memory has no such attribute. */
static bool value_of(const struct swap_range *range, CUdeviceptr pointer, int attribute, uint64_t *value)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *value = range->context;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = MEMORY_TYPE_DEVICE;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *value = pointer;
        return true;
    case BUFFER_ID:
    case BLOCK_ID:
        *value = range->id;
        return true;
    case DEVICE_ORDINAL:
        *value = range->device;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case MAPPING_BASE:
        *value = range->base;
        return true;
    case RANGE_SIZE:
    case MAPPING_SIZE:
        *value = range->bytes;
        return true;
    case MAPPED:
        *value = 1;
        return true;
    case ACCESS_FLAGS:
        *value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return true;
    case HANDLE_TYPES:
        *value = range->kind == SWAP_PROGRAM ? range->tag : 0;
        return true;
    case IPC_CAPABLE:
        *value = range->kind == SWAP_LINEAR && chunk_shareable_supported(range->device);
        return true;
    case SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case RDMA_CAPABLE:
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
