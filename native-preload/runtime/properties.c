/* Device properties: one structure for what the driver answers attribute by attribute. */
#include "properties.h"

#include <string.h>

#include "runtime.h"

/* A field and the CUdevice_attribute that it holds. */
#define NARROW(field, attribute)                                                                                       \
    {                                                                                                                  \
        offsetof(struct device_properties, field), attribute, false                                                    \
    }
#define WIDE(field, attribute)                                                                                         \
    {                                                                                                                  \
        offsetof(struct device_properties, field), attribute, true                                                     \
    }

static const struct {
    size_t offset;
    int attribute;
    bool wide; /* size_t, else int */
} fields[] = {
    WIDE(sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
    NARROW(regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
    NARROW(warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
    WIDE(memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH),
    NARROW(maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    NARROW(maxThreadsDim[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
    NARROW(maxThreadsDim[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
    NARROW(maxThreadsDim[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
    NARROW(maxGridSize[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
    NARROW(maxGridSize[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
    NARROW(maxGridSize[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
#if RUNTIME_MAJOR == 12
    NARROW(clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
#endif
    WIDE(totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
    NARROW(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
    NARROW(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    WIDE(textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
    WIDE(texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT),
#if RUNTIME_MAJOR == 12
    NARROW(deviceOverlap, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP),
#endif
    NARROW(multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
#if RUNTIME_MAJOR == 12
    NARROW(kernelExecTimeoutEnabled, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT),
#endif
    NARROW(integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED),
    NARROW(canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY),
#if RUNTIME_MAJOR == 12
    NARROW(computeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE),
#endif
    NARROW(maxTexture1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH),
    NARROW(maxTexture1DMipmap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH),
#if RUNTIME_MAJOR == 12
    NARROW(maxTexture1DLinear, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
#endif
    NARROW(maxTexture2D[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH),
    NARROW(maxTexture2D[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT),
    NARROW(maxTexture2DMipmap[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
    NARROW(maxTexture2DMipmap[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
    NARROW(maxTexture2DLinear[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
    NARROW(maxTexture2DLinear[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
    NARROW(maxTexture2DLinear[2], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH),
    NARROW(maxTexture2DGather[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH),
    NARROW(maxTexture2DGather[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT),
    NARROW(maxTexture3D[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH),
    NARROW(maxTexture3D[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT),
    NARROW(maxTexture3D[2], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH),
    NARROW(maxTexture3DAlt[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
    NARROW(maxTexture3DAlt[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
    NARROW(maxTexture3DAlt[2], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE),
    NARROW(maxTextureCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH),
    NARROW(maxTexture1DLayered[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
    NARROW(maxTexture1DLayered[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS),
    NARROW(maxTexture2DLayered[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
    NARROW(maxTexture2DLayered[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
    NARROW(maxTexture2DLayered[2], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS),
    NARROW(maxTextureCubemapLayered[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
    NARROW(maxTextureCubemapLayered[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS),
    NARROW(maxSurface1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH),
    NARROW(maxSurface2D[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH),
    NARROW(maxSurface2D[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT),
    NARROW(maxSurface3D[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH),
    NARROW(maxSurface3D[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT),
    NARROW(maxSurface3D[2], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH),
    NARROW(maxSurface1DLayered[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH),
    NARROW(maxSurface1DLayered[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS),
    NARROW(maxSurface2DLayered[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH),
    NARROW(maxSurface2DLayered[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
    NARROW(maxSurface2DLayered[2], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS),
    NARROW(maxSurfaceCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH),
    NARROW(maxSurfaceCubemapLayered[0], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
    NARROW(maxSurfaceCubemapLayered[1], CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS),
    WIDE(surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT),
    NARROW(concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS),
    NARROW(ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED),
    NARROW(pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
    NARROW(pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID),
    NARROW(pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
    NARROW(tccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER),
    NARROW(asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
    NARROW(unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING),
#if RUNTIME_MAJOR == 12
    NARROW(memoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
#endif
    NARROW(memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
    NARROW(l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
    NARROW(persistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE),
    NARROW(maxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
    NARROW(streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED),
    NARROW(globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED),
    NARROW(localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED),
    WIDE(sharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    NARROW(regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
    NARROW(managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY),
    NARROW(isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD),
    NARROW(multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID),
    NARROW(hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED),
#if RUNTIME_MAJOR == 12
    NARROW(singleToDoublePrecisionPerfRatio, CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
#endif
    NARROW(pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS),
    NARROW(concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
    NARROW(computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED),
    NARROW(canUseHostPointerForRegisteredMem, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    NARROW(cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH),
#if RUNTIME_MAJOR == 12
    NARROW(cooperativeMultiDeviceLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH),
#endif
    WIDE(sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    NARROW(pageableMemoryAccessUsesHostPageTables, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    NARROW(directManagedMemAccessFromHost, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    NARROW(maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
    NARROW(accessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE),
    WIDE(reservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
    NARROW(hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED),
    NARROW(sparseCudaArraySupported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED),
    NARROW(hostRegisterReadOnlySupported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED),
    NARROW(timelineSemaphoreInteropSupported, CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
    NARROW(memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED),
    NARROW(gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED),
    NARROW(gpuDirectRDMAFlushWritesOptions, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS),
    NARROW(gpuDirectRDMAWritesOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING),
    NARROW(memoryPoolSupportedHandleTypes, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES),
    NARROW(deferredMappingCudaArraySupported, CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
    NARROW(ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED),
    NARROW(clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH),
    NARROW(unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS),
#if RUNTIME_MAJOR >= 13
    NARROW(deviceNumaConfig, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG),
    NARROW(deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID),
    NARROW(mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED),
    NARROW(hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID),
    NARROW(gpuPciDeviceID, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID),
    NARROW(gpuPciSubsystemID, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID),
    NARROW(hostNumaMultinodeIpcSupported, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED),
#endif
};

static cudaError_t fill(struct device_properties *out, int device)
{
    unsigned mask = 0;
    size_t bytes = 0;
    if (!out)
        return cudaErrorInvalidValue;
    memset(out, 0, sizeof *out);
    cudaError_t failed = cuDeviceGetName(out->name, sizeof out->name, device);
    if (!failed)
        failed = cuDeviceGetUuid_v2((void *)out->uuid, device);
    if (!failed)
        failed = cuDeviceTotalMem_v2(&bytes, device);
    if (failed)
        return failed;
    out->totalGlobalMem = bytes;
    if (cuDeviceGetLuid(out->luid, &mask, device) == CUDA_SUCCESS)
        out->luidDeviceNodeMask = mask;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int value = 0;
        /* A driver that does not know an attribute leaves the field 0. */
        if (cuDeviceGetAttribute(&value, fields[i].attribute, device) != CUDA_SUCCESS)
            continue;
        if (fields[i].wide)
            *(size_t *)((char *)out + fields[i].offset) = (size_t)value;
        else
            *(int *)((char *)out + fields[i].offset) = value;
    }
    return cudaSuccess;
}

#if RUNTIME_MAJOR == 12
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#endif
EXPORT cudaError_t cudaGetDeviceProperties(struct device_properties *out, int device);
EXPORT cudaError_t cudaGetDeviceProperties(struct device_properties *out, int device)
{
    cudaError_t failed = start();
    return failed ? failed : keep(fill(out, device));
}

/* The device with the asked capability and memory; where none has it, the first. */
EXPORT cudaError_t cudaChooseDevice(int *device, const struct device_properties *asked);
EXPORT cudaError_t cudaChooseDevice(int *device, const struct device_properties *asked)
{
    cudaError_t failed = start();
    int count = 0;
    if (failed)
        return failed;
    failed = device && asked ? cuDeviceGetCount(&count) : cudaErrorInvalidValue;
    if (failed)
        return keep(failed);
    *device = 0;
    for (int i = count - 1; i >= 0; i--) {
        struct device_properties has;
        if (fill(&has, i) == cudaSuccess && has.major * 10 + has.minor >= asked->major * 10 + asked->minor &&
            has.totalGlobalMem >= asked->totalGlobalMem)
            *device = i;
    }
    return cudaSuccess;
}
