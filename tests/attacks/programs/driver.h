/*
 * The driver API as attackers and victim use it: declared here, so that no toolkit is needed, and looked up in whatever
 * libcuda.so.1 the process has, so that a name that is missing is a value and not a program that does not start.
 */
#ifndef ATTACKS_DRIVER_H
#define ATTACKS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
/* Handles of every kind are numbers here: attackers make their own. */
typedef uint64_t handle;

struct location {
    int type, id; /* type 1: device */
};

struct pool_properties {
    int allocation_type, handle_types; /* 1: device memory */
    struct location location;
    void *security;
    size_t most_bytes;
    unsigned char rest[56];
};

struct allocation_properties {
    int type, handle_types;
    struct location location;
    void *metadata;
    unsigned char flags[8];
};

struct access {
    struct location location;
    int flags; /* 3: read and write */
};

/* CUipcMemHandle and CUipcEventHandle */
enum { EXPORTED_WORDS = 8 };
struct exported {
    uint64_t word[EXPORTED_WORDS];
};
struct copy_2d {
    size_t source_x, source_y;
    int source_type; /* 1 host, 2 device, 3 array, 4 unified */
    const void *source_host;
    CUdeviceptr source_device;
    handle source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    int target_type;
    void *target_host;
    CUdeviceptr target_device;
    handle target_array;
    size_t target_pitch, width, height;
};

struct copy_3d {
    size_t source_x, source_y, source_z, source_level;
    int source_type;
    const void *source_host;
    CUdeviceptr source_device;
    handle source_array, source_context;
    size_t source_pitch, source_height;
    size_t target_x, target_y, target_z, target_level;
    int target_type;
    void *target_host;
    CUdeviceptr target_device;
    handle target_array, target_context;
    size_t target_pitch, target_height, width, height, depth;
};

struct array_shape {
    size_t width, height;
    int format; /* 0x20: float, 0x03: 32-bit unsigned */
    unsigned channels;
};

struct resource {
    int type; /* 0 array, 1 mipmapped, 2 linear, 3 pitched */
    int padding;
    union {
        handle array;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } plane;
        int reserved[32];
    } of;
    unsigned flags;
};

struct texture {
    int address_mode[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float bias, lowest, highest, border[4];
    int reserved[12];
};

struct memory_operation {
    int operation; /* 1 wait 32, 2 write 32, 4 wait 64, 5 write 64 */
    int padding;
    CUdeviceptr address;
    uint64_t value;
    unsigned flags;
    int padding_too;
    CUdeviceptr alias;
    uint64_t rest;
};

struct operations_node {
    handle context;
    unsigned count;
    const struct memory_operation *operations;
    unsigned flags;
};

struct memset_node {
    CUdeviceptr target;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};

struct kernel_node {
    handle function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    handle kernel, context;
};

struct any_node {
    int type; /* 1 copy, 2 memset, 11 free, 12 operations */
    int reserved[3];
    unsigned char body[232];
    long long reserved_too;
};

struct launch_attribute {
    int id;
    int padding;
    uint64_t value[8];
};

struct launch {
    unsigned grid[3], block[3], shared;
    handle stream;
    struct launch_attribute *attributes;
    unsigned count;
};

#define ENTRIES(X)                                                                                                      \
    X(cuInit, "cuInit", (unsigned))                                                                                     \
    X(cuDeviceGet, "cuDeviceGet", (CUdevice *, int))                                                                    \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (handle *, CUdevice))                                       \
    X(cuCtxSetCurrent, "cuCtxSetCurrent", (handle))                                                                     \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                                     \
    X(cuCtxSetLimit, "cuCtxSetLimit", (int, size_t))                                                                    \
    X(cuCtxDestroy, "cuCtxDestroy_v2", (handle))                                                                        \
    X(cuModuleLoadData, "cuModuleLoadData", (handle *, const void *))                                                   \
    X(cuModuleLoadDataEx, "cuModuleLoadDataEx", (handle *, const void *, unsigned, int *, void **))                     \
    X(cuModuleUnload, "cuModuleUnload", (handle))                                                                       \
    X(cuModuleGetFunction, "cuModuleGetFunction", (handle *, handle, const char *))                                     \
    X(cuModuleGetFunctionCount, "cuModuleGetFunctionCount", (unsigned *, handle))                                       \
    X(cuModuleEnumerateFunctions, "cuModuleEnumerateFunctions", (handle *, unsigned, handle))                           \
    X(cuModuleGetGlobal, "cuModuleGetGlobal_v2", (CUdeviceptr *, size_t *, handle, const char *))                       \
    X(cuModuleGetTexRef, "cuModuleGetTexRef", (handle *, handle, const char *))                                         \
    X(cuTexRefSetArray, "cuTexRefSetArray", (handle, handle, unsigned))                                                 \
    X(cuTexRefGetArray, "cuTexRefGetArray", (handle *, handle))                                                         \
    X(cuTexRefSetFlags, "cuTexRefSetFlags", (handle, unsigned))                                                         \
    X(cuLibraryLoadData, "cuLibraryLoadData",                                                                           \
      (handle *, const void *, int *, void **, unsigned, int *, void **, unsigned))                                     \
    X(cuLibraryUnload, "cuLibraryUnload", (handle))                                                                     \
    X(cuLibraryGetModule, "cuLibraryGetModule", (handle *, handle))                                                     \
    X(cuLibraryGetKernel, "cuLibraryGetKernel", (handle *, handle, const char *))                                       \
    X(cuLibraryGetKernelCount, "cuLibraryGetKernelCount", (unsigned *, handle))                                         \
    X(cuLibraryEnumerateKernels, "cuLibraryEnumerateKernels", (handle *, unsigned, handle))                             \
    X(cuFuncSetAttribute, "cuFuncSetAttribute", (handle, int, int))                                                     \
    X(cuFuncGetModule, "cuFuncGetModule", (handle *, handle))                                                           \
    X(cuLinkCreate, "cuLinkCreate_v2", (unsigned, int *, void **, handle *))                                            \
    X(cuLinkAddData, "cuLinkAddData_v2", (handle, int, void *, size_t, const char *, unsigned, int *, void **))         \
    X(cuLinkComplete, "cuLinkComplete", (handle, void **, size_t *))                                                    \
    X(cuLinkDestroy, "cuLinkDestroy", (handle))                                                                         \
    X(cuLaunchKernel, "cuLaunchKernel",                                                                                 \
      (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **))         \
    X(cuLaunchKernelEx, "cuLaunchKernelEx", (const struct launch *, handle, void **, void **))                          \
    X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                                             \
    X(cuMemAllocPitch, "cuMemAllocPitch_v2", (CUdeviceptr *, size_t *, size_t, size_t, unsigned))                       \
    X(cuMemFree, "cuMemFree_v2", (CUdeviceptr))                                                                         \
    X(cuMemAllocAsync, "cuMemAllocAsync", (CUdeviceptr *, size_t, handle))                                              \
    X(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", (CUdeviceptr *, size_t, handle, handle))                      \
    X(cuMemFreeAsync, "cuMemFreeAsync", (CUdeviceptr, handle))                                                          \
    X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                                    \
    X(cuMemFreeHost, "cuMemFreeHost", (void *))                                                                         \
    X(cuMemHostRegister, "cuMemHostRegister_v2", (void *, size_t, unsigned))                                            \
    X(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (CUdeviceptr *, void *, unsigned))                     \
    X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                                            \
    X(cuMemGetAddressRange, "cuMemGetAddressRange_v2", (CUdeviceptr *, size_t *, CUdeviceptr))                          \
    X(cuPointerGetAttribute, "cuPointerGetAttribute", (void *, int, CUdeviceptr))                                       \
    X(cuPointerSetAttribute, "cuPointerSetAttribute", (const void *, int, CUdeviceptr))                                 \
    X(cuMemPoolCreate, "cuMemPoolCreate", (handle *, const struct pool_properties *))                                   \
    X(cuMemPoolDestroy, "cuMemPoolDestroy", (handle))                                                                   \
    X(cuMemPoolTrimTo, "cuMemPoolTrimTo", (handle, size_t))                                                             \
    X(cuMemPoolSetAttribute, "cuMemPoolSetAttribute", (handle, int, void *))                                            \
    X(cuMemPoolGetAttribute, "cuMemPoolGetAttribute", (handle, int, void *))                                            \
    X(cuMemPoolSetAccess, "cuMemPoolSetAccess", (handle, const struct access *, size_t))                                \
    X(cuMemPoolExportPointer, "cuMemPoolExportPointer", (void *, CUdeviceptr))                                          \
    X(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity",                                                   \
      (size_t *, const struct allocation_properties *, int))                                                            \
    X(cuMemAddressReserve, "cuMemAddressReserve", (CUdeviceptr *, size_t, size_t, CUdeviceptr, uint64_t))               \
    X(cuMemAddressFree, "cuMemAddressFree", (CUdeviceptr, size_t))                                                      \
    X(cuMemCreate, "cuMemCreate", (handle *, size_t, const struct allocation_properties *, uint64_t))                   \
    X(cuMemRelease, "cuMemRelease", (handle))                                                                           \
    X(cuMemMap, "cuMemMap", (CUdeviceptr, size_t, size_t, handle, uint64_t))                                            \
    X(cuMemUnmap, "cuMemUnmap", (CUdeviceptr, size_t))                                                                  \
    X(cuMemSetAccess, "cuMemSetAccess", (CUdeviceptr, size_t, const struct access *, size_t))                           \
    X(cuMemGetAccess, "cuMemGetAccess", (uint64_t *, const struct location *, CUdeviceptr))                             \
    X(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", (handle *, CUdeviceptr))                              \
    X(cuMemExportToShareableHandle, "cuMemExportToShareableHandle", (void *, handle, int, uint64_t))                    \
    X(cuMemAdvise, "cuMemAdvise", (CUdeviceptr, size_t, int, CUdevice))                                                 \
    X(cuMemPrefetchAsync, "cuMemPrefetchAsync", (CUdeviceptr, size_t, CUdevice, handle))                                \
    X(cuMemRangeGetAttribute, "cuMemRangeGetAttribute", (void *, size_t, int, CUdeviceptr, size_t))                     \
    X(cuIpcGetMemHandle, "cuIpcGetMemHandle", (void *, CUdeviceptr))                                                    \
    X(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2", (CUdeviceptr *, struct exported, unsigned))                          \
    X(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", (CUdeviceptr))                                                        \
    X(cuIpcGetEventHandle, "cuIpcGetEventHandle", (void *, handle))                                                     \
    X(cuIpcOpenEventHandle, "cuIpcOpenEventHandle", (handle *, struct exported))                                        \
    X(cuMemcpy, "cuMemcpy", (CUdeviceptr, CUdeviceptr, size_t))                                                         \
    X(cuMemcpyAsync, "cuMemcpyAsync", (CUdeviceptr, CUdeviceptr, size_t, handle))                                       \
    X(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                                             \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void *, size_t, handle))                           \
    X(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                                                   \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, CUdeviceptr, size_t, handle))                                 \
    X(cuMemcpyDtoD, "cuMemcpyDtoD_v2", (CUdeviceptr, CUdeviceptr, size_t))                                              \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CUdeviceptr, CUdeviceptr, size_t, handle))                            \
    X(cuMemcpyPeer, "cuMemcpyPeer", (CUdeviceptr, handle, CUdeviceptr, handle, size_t))                                 \
    X(cuMemcpyPeerAsync, "cuMemcpyPeerAsync", (CUdeviceptr, handle, CUdeviceptr, handle, size_t, handle))               \
    X(cuMemcpyDtoA, "cuMemcpyDtoA_v2", (handle, size_t, CUdeviceptr, size_t))                                           \
    X(cuMemcpyAtoD, "cuMemcpyAtoD_v2", (CUdeviceptr, handle, size_t, size_t))                                           \
    X(cuMemcpyAtoH, "cuMemcpyAtoH_v2", (void *, handle, size_t, size_t))                                                \
    X(cuMemcpy2D, "cuMemcpy2D_v2", (const struct copy_2d *))                                                            \
    X(cuMemcpy2DUnaligned, "cuMemcpy2DUnaligned_v2", (const struct copy_2d *))                                          \
    X(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", (const struct copy_2d *, handle))                                          \
    X(cuMemcpy3D, "cuMemcpy3D_v2", (const struct copy_3d *))                                                            \
    X(cuMemcpy3DAsync, "cuMemcpy3DAsync_v2", (const struct copy_3d *, handle))                                          \
    X(cuMemcpy3DPeer, "cuMemcpy3DPeer", (const void *))                                                                 \
    X(cuMemcpyBatchAsync, "cuMemcpyBatchAsync_v2",                                                                      \
      (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, void *, size_t *, size_t, handle))                               \
    X(cuMemsetD8, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t))                                                \
    X(cuMemsetD16, "cuMemsetD16_v2", (CUdeviceptr, unsigned short, size_t))                                             \
    X(cuMemsetD32, "cuMemsetD32_v2", (CUdeviceptr, unsigned, size_t))                                                   \
    X(cuMemsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, handle))                                 \
    X(cuMemsetD32Async, "cuMemsetD32Async", (CUdeviceptr, unsigned, size_t, handle))                                    \
    X(cuMemsetD2D8, "cuMemsetD2D8_v2", (CUdeviceptr, size_t, unsigned char, size_t, size_t))                            \
    X(cuMemsetD2D32, "cuMemsetD2D32_v2", (CUdeviceptr, size_t, unsigned, size_t, size_t))                               \
    X(cuStreamCreate, "cuStreamCreate", (handle *, unsigned))                                                           \
    X(cuStreamDestroy, "cuStreamDestroy_v2", (handle))                                                                  \
    X(cuStreamSynchronize, "cuStreamSynchronize", (handle))                                                             \
    X(cuStreamQuery, "cuStreamQuery", (handle))                                                                         \
    X(cuStreamWaitEvent, "cuStreamWaitEvent", (handle, handle, unsigned))                                               \
    X(cuLaunchHostFunc, "cuLaunchHostFunc", (handle, void (*)(void *), void *))                                         \
    X(cuStreamWaitValue32, "cuStreamWaitValue32_v2", (handle, CUdeviceptr, uint32_t, unsigned))                         \
    X(cuStreamWaitValue64, "cuStreamWaitValue64_v2", (handle, CUdeviceptr, uint64_t, unsigned))                         \
    X(cuStreamWriteValue32, "cuStreamWriteValue32_v2", (handle, CUdeviceptr, uint32_t, unsigned))                       \
    X(cuStreamWriteValue64, "cuStreamWriteValue64_v2", (handle, CUdeviceptr, uint64_t, unsigned))                       \
    X(cuStreamBatchMemOp, "cuStreamBatchMemOp_v2", (handle, unsigned, struct memory_operation *, unsigned))             \
    X(cuStreamSetAttribute, "cuStreamSetAttribute", (handle, int, const void *))                                        \
    X(cuStreamCopyAttributes, "cuStreamCopyAttributes", (handle, handle))                                               \
    X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (handle, int))                                                   \
    X(cuStreamEndCapture, "cuStreamEndCapture", (handle, handle *))                                                     \
    X(cuEventCreate, "cuEventCreate", (handle *, unsigned))                                                             \
    X(cuEventDestroy, "cuEventDestroy_v2", (handle))                                                                    \
    X(cuEventRecord, "cuEventRecord", (handle, handle))                                                                 \
    X(cuEventQuery, "cuEventQuery", (handle))                                                                           \
    X(cuEventSynchronize, "cuEventSynchronize", (handle))                                                               \
    X(cuGraphCreate, "cuGraphCreate", (handle *, unsigned))                                                             \
    X(cuGraphClone, "cuGraphClone", (handle *, handle))                                                                 \
    X(cuGraphDestroy, "cuGraphDestroy", (handle))                                                                       \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags", (handle *, handle, uint64_t))                                  \
    X(cuGraphLaunch, "cuGraphLaunch", (handle, handle))                                                                 \
    X(cuGraphExecDestroy, "cuGraphExecDestroy", (handle))                                                               \
    X(cuGraphGetNodes, "cuGraphGetNodes", (handle, handle *, size_t *))                                                 \
    X(cuGraphDestroyNode, "cuGraphDestroyNode", (handle))                                                               \
    X(cuGraphAddEmptyNode, "cuGraphAddEmptyNode", (handle *, handle, const handle *, size_t))                           \
    X(cuGraphAddMemcpyNode, "cuGraphAddMemcpyNode",                                                                     \
      (handle *, handle, const handle *, size_t, const struct copy_3d *, handle))                                       \
    X(cuGraphMemcpyNodeSetParams, "cuGraphMemcpyNodeSetParams", (handle, const struct copy_3d *))                       \
    X(cuGraphMemcpyNodeGetParams, "cuGraphMemcpyNodeGetParams", (handle, struct copy_3d *))                             \
    X(cuGraphExecMemcpyNodeSetParams, "cuGraphExecMemcpyNodeSetParams",                                                 \
      (handle, handle, const struct copy_3d *, handle))                                                                 \
    X(cuGraphAddMemsetNode, "cuGraphAddMemsetNode",                                                                     \
      (handle *, handle, const handle *, size_t, const struct memset_node *, handle))                                   \
    X(cuGraphMemsetNodeSetParams, "cuGraphMemsetNodeSetParams", (handle, const struct memset_node *))                   \
    X(cuGraphExecMemsetNodeSetParams, "cuGraphExecMemsetNodeSetParams",                                                 \
      (handle, handle, const struct memset_node *, handle))                                                             \
    X(cuGraphAddBatchMemOpNode, "cuGraphAddBatchMemOpNode",                                                             \
      (handle *, handle, const handle *, size_t, const struct operations_node *))                                       \
    X(cuGraphExecBatchMemOpNodeSetParams, "cuGraphExecBatchMemOpNodeSetParams",                                         \
      (handle, handle, const struct operations_node *))                                                                 \
    X(cuGraphAddMemFreeNode, "cuGraphAddMemFreeNode", (handle *, handle, const handle *, size_t, CUdeviceptr))          \
    X(cuGraphAddKernelNode, "cuGraphAddKernelNode_v2",                                                                  \
      (handle *, handle, const handle *, size_t, const struct kernel_node *))                                           \
    X(cuGraphAddChildGraphNode, "cuGraphAddChildGraphNode", (handle *, handle, const handle *, size_t, handle))         \
    X(cuGraphAddEventRecordNode, "cuGraphAddEventRecordNode", (handle *, handle, const handle *, size_t, handle))       \
    X(cuGraphAddNode, "cuGraphAddNode_v2", (handle *, handle, const handle *, const void *, size_t, struct any_node *)) \
    X(cuGraphExecUpdate, "cuGraphExecUpdate_v2", (handle, handle, void *))                                              \
    X(cuArrayCreate, "cuArrayCreate_v2", (handle *, const struct array_shape *))                                        \
    X(cuArrayDestroy, "cuArrayDestroy", (handle))                                                                       \
    X(cuArrayGetDescriptor, "cuArrayGetDescriptor_v2", (struct array_shape *, handle))                                  \
    X(cuTexObjectCreate, "cuTexObjectCreate",                                                                           \
      (handle *, const struct resource *, const struct texture *, const void *))                                        \
    X(cuTexObjectDestroy, "cuTexObjectDestroy", (handle))                                                               \
    X(cuTexObjectGetResourceDesc, "cuTexObjectGetResourceDesc", (struct resource *, handle))                            \
    X(cuSurfObjectCreate, "cuSurfObjectCreate", (handle *, const struct resource *))                                    \
    X(cuSurfObjectDestroy, "cuSurfObjectDestroy", (handle))                                                             \
    X(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                 \
      (void *, int, unsigned, CUdeviceptr, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *,      \
       int, int, int, int))                                                                                             \
    X(cuTensorMapReplaceAddress, "cuTensorMapReplaceAddress", (void *, CUdeviceptr))                                    \
    X(cuUserObjectRelease, "cuUserObjectRelease", (handle, unsigned))                                                   \
    X(cuCtxCreate, "cuCtxCreate_v2", (handle *, unsigned, int))

#define DECLARE(name, symbol, parameters) extern CUresult(*name) parameters;
ENTRIES(DECLARE)
#undef DECLARE

/* Looks everything up and makes the device's primary context current; ends the program where there is no device. */
void driver_open(void);

#endif
