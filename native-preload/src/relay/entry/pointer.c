/* What an address is: answered from the map of ranges. */
#include <string.h>

#include "relay/memory/range.h"
#include "relay/wire/unsupported.h"
#include "relay/wire/relay.h"
#include "relay_stubs.h"

/* The size of an attribute's value in bytes; 0: not an attribute. */
static size_t bytes_of(int attribute)
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
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return sizeof(int);
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

static CUresult context_of(const struct relay_range *range, uint64_t *value)
{
    if (range->kind == RELAY_RANGE_POOL || range->kind == RELAY_RANGE_GRAPH || range->kind == RELAY_RANGE_MAPPED) {
        *value = 0; /* belongs to a device, not to a context */
        return CUDA_SUCCESS;
    }
    *value = range->context ? (uintptr_t)range->context->handle : 0;
    return range->context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Whether kernels reach it: each device has pinned memory of its own within its fences. */
static bool is_reached(const struct relay_range *range)
{
    bool elsewhere = relay_current && relay_current->link != range->link;
    return range->kind != RELAY_RANGE_REGISTERED && !(range->kind == RELAY_RANGE_PINNED && elsewhere);
}

static CUresult value_of(const struct relay_range *range, int attribute, uint64_t address, uint64_t *value)
{
    bool host = !relay_range_device_side(range);
    *value = 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return context_of(range, value);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *value = is_reached(range) ? address : 0;
        return is_reached(range) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *value = host ? address : 0;
        return host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return CUDA_SUCCESS; /* 0: none of these can be relayed */
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *value = range->kind == RELAY_RANGE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *value = range->serial;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = range->link->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *value = range->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *value = range->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *value = range->kind != RELAY_RANGE_RESERVED && range->kind != RELAY_RANGE_REGISTERED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *value = range->kind == RELAY_RANGE_RESERVED || range->kind == RELAY_RANGE_REGISTERED
                     ? 0
                     : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *value = range->kind == RELAY_RANGE_POOL ? range->id : 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Addresses mean the same in every context, so a thread without a context may query, too: PyTorch's loader threads do. */
static CUresult able(void)
{
    struct relay_context *context;
    return relay_current ? relay_enter(&context) : relay_started();
}

CUresult relay_cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer)
{
    struct relay_range range;
    uint64_t value;
    CUresult result = able();
    if (result != CUDA_SUCCESS)
        return result;
    if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
        return relay_unsupported_query("cuPointerGetAttribute", "tokens for peer devices belong to the executor");
    size_t bytes = bytes_of(attribute);
    if (!data || bytes == 0 || !relay_range_find(pointer, &range))
        return CUDA_ERROR_INVALID_VALUE;
    result = value_of(&range, attribute, pointer, &value);
    if (result == CUDA_SUCCESS)
        memcpy(data, &value, bytes);
    return result;
}

/* An address that CUDA does not know is no error here: its attributes are 0, or an invalid device. */
CUresult relay_cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr pointer)
{
    struct relay_range range;
    CUresult result = able();
    if (result != CUDA_SUCCESS)
        return result;
    if (!attributes || !data || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (bytes_of(attributes[i]) == 0 || !data[i])
            return CUDA_ERROR_INVALID_VALUE;
    bool known = relay_range_find(pointer, &range);
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = 0;
        if (known)
            value_of(&range, attributes[i], pointer, &value); /* what does not apply is 0 */
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            value = (uint32_t)CU_DEVICE_INVALID;
        memcpy(data[i], &value, bytes_of(attributes[i]));
    }
    return CUDA_SUCCESS;
}

/* Only SYNC_MEMOPS can be set. It is for devices that access the memory without the driver (RDMA). */
CUresult relay_cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !relay_range_find(pointer, &range) ||
        !relay_range_device_side(&range))
        return CUDA_ERROR_INVALID_VALUE;
    return relay_unsupported("cuPointerSetAttribute", "synchronous memory operations cannot be forced");
}
