/* Device attributes: the executor's snapshot, less what a relayed program cannot have. */
#include "relay/entry/device_attributes.h"

#include <string.h>

/* CUdevice_attribute (cuda.h 13.0) that announce what the relay refuses: each answers 0. */
static const uint8_t withheld[] = {
    83,  /* MANAGED_MEMORY */
    88,  /* PAGEABLE_MEMORY_ACCESS */
    89,  /* CONCURRENT_MANAGED_ACCESS */
    91,  /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
    96,  /* COOPERATIVE_MULTI_DEVICE_LAUNCH */
    98,  /* CAN_FLUSH_REMOTE_WRITES */
    100, /* PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES */
    101, /* DIRECT_MANAGED_MEM_ACCESS_FROM_HOST */
    103, /* HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED */
    104, /* HANDLE_TYPE_WIN32_HANDLE_SUPPORTED */
    105, /* HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED */
    110, /* GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED */
    112, /* SPARSE_CUDA_ARRAY_SUPPORTED */
    113, /* READ_ONLY_HOST_REGISTER_SUPPORTED */
    114, /* TIMELINE_SEMAPHORE_INTEROP_SUPPORTED */
    116, /* GPU_DIRECT_RDMA_SUPPORTED */
    117, /* GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
    119, /* MEMPOOL_SUPPORTED_HANDLE_TYPES */
    121, /* DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED */
    124, /* DMA_BUF_SUPPORTED */
    128, /* HANDLE_TYPE_FABRIC_SUPPORTED */
    129, /* UNIFIED_FUNCTION_POINTERS */
    132, /* MULTICAST_SUPPORTED */
    135, /* D3D12_CIG_SUPPORTED */
    136, /* MEM_DECOMPRESS_ALGORITHM_MASK */
    137, /* MEM_DECOMPRESS_MAXIMUM_LENGTH */
    138, /* VULKAN_CIG_SUPPORTED */
    141, /* HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
    142, /* HOST_NUMA_MEMORY_POOLS_SUPPORTED */
    143, /* HOST_NUMA_MULTINODE_IPC_SUPPORTED */
    144, /* HOST_MEMORY_POOLS_SUPPORTED */
    145, /* HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
    146, /* HOST_ALLOC_DMA_BUF_SUPPORTED */
};

CUresult device_attribute(const struct relay_link *link, int attribute, int *value)
{
    const struct tessera_relay_device *device = &link->segment->device;
    if (attribute <= 0 || attribute >= (int)TESSERA_RELAY_ATTRIBUTES || !device->attribute_valid[attribute])
        return CUDA_ERROR_INVALID_VALUE;
    *value = attribute <= UINT8_MAX && memchr(withheld, attribute, sizeof withheld) ? 0 : device->attributes[attribute];
    return CUDA_SUCCESS;
}
