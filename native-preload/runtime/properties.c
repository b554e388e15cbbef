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
    WIDE(sharedMemPerBlock, 8),
    NARROW(regsPerBlock, 12),
    NARROW(warpSize, 10),
    WIDE(memPitch, 11),
    NARROW(maxThreadsPerBlock, 1),
    NARROW(maxThreadsDim[0], 2),
    NARROW(maxThreadsDim[1], 3),
    NARROW(maxThreadsDim[2], 4),
    NARROW(maxGridSize[0], 5),
    NARROW(maxGridSize[1], 6),
    NARROW(maxGridSize[2], 7),
#if RUNTIME_MAJOR == 12
    NARROW(clockRate, 13),
#endif
    WIDE(totalConstMem, 9),
    NARROW(major, 75),
    NARROW(minor, 76),
    WIDE(textureAlignment, 14),
    WIDE(texturePitchAlignment, 51),
#if RUNTIME_MAJOR == 12
    NARROW(deviceOverlap, 15),
#endif
    NARROW(multiProcessorCount, 16),
#if RUNTIME_MAJOR == 12
    NARROW(kernelExecTimeoutEnabled, 17),
#endif
    NARROW(integrated, 18),
    NARROW(canMapHostMemory, 19),
#if RUNTIME_MAJOR == 12
    NARROW(computeMode, 20),
#endif
    NARROW(maxTexture1D, 21),
    NARROW(maxTexture1DMipmap, 77),
#if RUNTIME_MAJOR == 12
    NARROW(maxTexture1DLinear, 69),
#endif
    NARROW(maxTexture2D[0], 22),
    NARROW(maxTexture2D[1], 23),
    NARROW(maxTexture2DMipmap[0], 73),
    NARROW(maxTexture2DMipmap[1], 74),
    NARROW(maxTexture2DLinear[0], 70),
    NARROW(maxTexture2DLinear[1], 71),
    NARROW(maxTexture2DLinear[2], 72),
    NARROW(maxTexture2DGather[0], 45),
    NARROW(maxTexture2DGather[1], 46),
    NARROW(maxTexture3D[0], 24),
    NARROW(maxTexture3D[1], 25),
    NARROW(maxTexture3D[2], 26),
    NARROW(maxTexture3DAlt[0], 47),
    NARROW(maxTexture3DAlt[1], 48),
    NARROW(maxTexture3DAlt[2], 49),
    NARROW(maxTextureCubemap, 52),
    NARROW(maxTexture1DLayered[0], 42),
    NARROW(maxTexture1DLayered[1], 43),
    NARROW(maxTexture2DLayered[0], 27),
    NARROW(maxTexture2DLayered[1], 28),
    NARROW(maxTexture2DLayered[2], 29),
    NARROW(maxTextureCubemapLayered[0], 53),
    NARROW(maxTextureCubemapLayered[1], 54),
    NARROW(maxSurface1D, 55),
    NARROW(maxSurface2D[0], 56),
    NARROW(maxSurface2D[1], 57),
    NARROW(maxSurface3D[0], 58),
    NARROW(maxSurface3D[1], 59),
    NARROW(maxSurface3D[2], 60),
    NARROW(maxSurface1DLayered[0], 61),
    NARROW(maxSurface1DLayered[1], 62),
    NARROW(maxSurface2DLayered[0], 63),
    NARROW(maxSurface2DLayered[1], 64),
    NARROW(maxSurface2DLayered[2], 65),
    NARROW(maxSurfaceCubemap, 66),
    NARROW(maxSurfaceCubemapLayered[0], 67),
    NARROW(maxSurfaceCubemapLayered[1], 68),
    WIDE(surfaceAlignment, 30),
    NARROW(concurrentKernels, 31),
    NARROW(ECCEnabled, 32),
    NARROW(pciBusID, 33),
    NARROW(pciDeviceID, 34),
    NARROW(pciDomainID, 50),
    NARROW(tccDriver, 35),
    NARROW(asyncEngineCount, 40),
    NARROW(unifiedAddressing, 41),
#if RUNTIME_MAJOR == 12
    NARROW(memoryClockRate, 36),
#endif
    NARROW(memoryBusWidth, 37),
    NARROW(l2CacheSize, 38),
    NARROW(persistingL2CacheMaxSize, 108),
    NARROW(maxThreadsPerMultiProcessor, 39),
    NARROW(streamPrioritiesSupported, 78),
    NARROW(globalL1CacheSupported, 79),
    NARROW(localL1CacheSupported, 80),
    WIDE(sharedMemPerMultiprocessor, 81),
    NARROW(regsPerMultiprocessor, 82),
    NARROW(managedMemory, 83),
    NARROW(isMultiGpuBoard, 84),
    NARROW(multiGpuBoardGroupID, 85),
    NARROW(hostNativeAtomicSupported, 86),
#if RUNTIME_MAJOR == 12
    NARROW(singleToDoublePrecisionPerfRatio, 87),
#endif
    NARROW(pageableMemoryAccess, 88),
    NARROW(concurrentManagedAccess, 89),
    NARROW(computePreemptionSupported, 90),
    NARROW(canUseHostPointerForRegisteredMem, 91),
    NARROW(cooperativeLaunch, 95),
#if RUNTIME_MAJOR == 12
    NARROW(cooperativeMultiDeviceLaunch, 96),
#endif
    WIDE(sharedMemPerBlockOptin, 97),
    NARROW(pageableMemoryAccessUsesHostPageTables, 100),
    NARROW(directManagedMemAccessFromHost, 101),
    NARROW(maxBlocksPerMultiProcessor, 106),
    NARROW(accessPolicyMaxWindowSize, 109),
    WIDE(reservedSharedMemPerBlock, 111),
    NARROW(hostRegisterSupported, 99),
    NARROW(sparseCudaArraySupported, 112),
    NARROW(hostRegisterReadOnlySupported, 113),
    NARROW(timelineSemaphoreInteropSupported, 114),
    NARROW(memoryPoolsSupported, 115),
    NARROW(gpuDirectRDMASupported, 116),
    NARROW(gpuDirectRDMAFlushWritesOptions, 117),
    NARROW(gpuDirectRDMAWritesOrdering, 118),
    NARROW(memoryPoolSupportedHandleTypes, 119),
    NARROW(deferredMappingCudaArraySupported, 121),
    NARROW(ipcEventSupported, 125),
    NARROW(clusterLaunch, 120),
    NARROW(unifiedFunctionPointers, 129),
#if RUNTIME_MAJOR >= 13
    NARROW(deviceNumaConfig, 130),
    NARROW(deviceNumaId, 131),
    NARROW(mpsEnabled, 133),
    NARROW(hostNumaId, 134),
    NARROW(gpuPciDeviceID, 139),
    NARROW(gpuPciSubsystemID, 140),
    NARROW(hostNumaMultinodeIpcSupported, 143),
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
