/*
 * The driver entries that tests call, declared by ourselves; no vendor header is used. Handles are untyped pointers.
 */
#ifndef TESSERA_TEST_CUDA_CALLS_H
#define TESSERA_TEST_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;

typedef struct {
    unsigned char bytes[64];
} CUipcMemHandle;
typedef CUipcMemHandle CUipcEventHandle;

struct call_location {
    int type, id; /* type 1: device */
};

struct call_pool_properties {
    int allocation_type, handle_types; /* allocation 1: device memory, 2: managed */
    struct call_location location;
    void *security;
    size_t max_bytes;
    unsigned char rest[56];
};

struct call_allocation_properties {
    int type, handle_types;
    struct call_location location;
    void *metadata;
    unsigned char flags[8];
};

struct call_access {
    struct call_location location;
    int flags;
};

struct call_launch {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned count;
};

struct call_copy_2d {
    size_t source_x, source_y;
    int source_type; /* 1 host, 2 device, 3 array */
    const void *source_host;
    CUdeviceptr source_device;
    void *source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    int target_type;
    void *target_host;
    CUdeviceptr target_device;
    void *target_array;
    size_t target_pitch, width, height;
};

struct call_copy_3d {
    size_t source_x, source_y, source_z, source_level;
    int source_type;
    const void *source_host;
    CUdeviceptr source_device;
    void *source_array, *source_context;
    size_t source_pitch, source_height;
    size_t target_x, target_y, target_z, target_level;
    int target_type;
    void *target_host;
    CUdeviceptr target_device;
    void *target_array, *target_context;
    size_t target_pitch, target_height, width, height, depth;
};

struct call_array {
    size_t width, height;
    int format; /* 0x20: float */
    unsigned channels;
};

struct call_alloc_node {
    struct call_pool_properties pool;
    const struct call_access *access;
    size_t access_count, bytes;
    CUdeviceptr pointer;
};

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult code, const char **name);
CUresult cuGetErrorString(CUresult code, const char **text);
CUresult cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags);
CUresult cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status);
CUresult cuGetExportTable(const void **table, const void *id);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device);
CUresult cuDeviceGetUuid_v2(void *uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUresult cuMemGetInfo_v2(size_t *free, size_t *total);
CUresult cuCtxCreate_v2(void **context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v4(void **context, const void *parameters, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(void *context);
CUresult cuCtxPushCurrent_v2(void *context);
CUresult cuCtxPopCurrent_v2(void **context);
CUresult cuCtxSetCurrent(void *context);
CUresult cuCtxGetCurrent(void **context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxSynchronize(void);
CUresult cuCtxEnablePeerAccess(void *peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(void *peer);
CUresult cuCtxSynchronize_v2(void *context);
CUresult cuDevicePrimaryCtxRetain(void **context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr pointer);
CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
CUresult cuMemAllocHost_v2(void **pointer, size_t bytes);
CUresult cuMemFreeHost(void *pointer);
CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void *pointer);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *pointer, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, void *stream);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, void *stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, void *pool, void *stream);
CUresult cuMemFreeAsync(CUdeviceptr pointer, void *stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, void *stream);
CUresult cuDeviceGetDefaultMemPool(void **pool, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, void *pool);
CUresult cuDeviceGetMemPool(void **pool, CUdevice device);
CUresult cuMemPoolCreate(void **pool, const struct call_pool_properties *properties);
CUresult cuMemPoolDestroy(void *pool);
CUresult cuMemPoolGetAttribute(void *pool, int attribute, void *value);
CUresult cuMemPoolSetAttribute(void *pool, int attribute, void *value);
CUresult cuMemPoolTrimTo(void *pool, size_t keep);
CUresult cuMemPoolSetAccess(void *pool, const struct call_access *access, size_t count);
CUresult cuMemGetAllocationGranularity(size_t *bytes, const struct call_allocation_properties *p, int option);
CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr wish, uint64_t flags);
CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes);
CUresult cuMemCreate(void **handle, size_t bytes, const struct call_allocation_properties *p, uint64_t flags);
CUresult cuMemRelease(void *handle);
CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, void *handle, uint64_t flags);
CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const struct call_access *access, size_t count);
CUresult cuMemGetAccess(unsigned long long *flags, const struct call_location *location, CUdeviceptr pointer);
CUresult cuMemRetainAllocationHandle(void **handle, void *address);
CUresult cuMemGetAllocationPropertiesFromHandle(struct call_allocation_properties *properties, void *handle);
CUresult cuMemExportToShareableHandle(void *out, void *handle, int type, uint64_t flags);
CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr pointer);
CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, void *event);
CUresult cuIpcOpenEventHandle(void **event, CUipcEventHandle handle);
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer);
CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values, CUdeviceptr pointer);
CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer);
CUresult cuArrayCreate_v2(void **array, const struct call_array *descriptor);
CUresult cuArrayDestroy(void *array);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, struct call_location l, unsigned flags, void *stream);
CUresult cuStreamCreate(void **stream, unsigned flags);
CUresult cuStreamCreateWithPriority(void **stream, unsigned flags, int priority);
CUresult cuStreamDestroy_v2(void *stream);
CUresult cuStreamSynchronize(void *stream);
CUresult cuStreamQuery(void *stream);
CUresult cuStreamWaitEvent(void *stream, void *event, unsigned flags);
CUresult cuStreamWaitValue32_v2(void *stream, CUdeviceptr address, uint32_t value, unsigned flags);
CUresult cuStreamWaitValue32_v2_ptsz(void *stream, CUdeviceptr address, uint32_t value, unsigned flags);
CUresult cuStreamWriteValue32_v2(void *stream, CUdeviceptr address, uint32_t value, unsigned flags);
CUresult cuStreamAddCallback(void *stream, void (*f)(void *, CUresult, void *), void *data, unsigned flags);
CUresult cuLaunchHostFunc(void *stream, void (*f)(void *), void *data);
CUresult cuEventCreate(void **event, unsigned flags);
CUresult cuEventDestroy_v2(void *event);
CUresult cuEventRecord(void *event, void *stream);
CUresult cuEventQuery(void *event);
CUresult cuEventSynchronize(void *event);
CUresult cuEventElapsedTime(float *ms, void *start, void *end);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, void *stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, void *stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream);
CUresult cuMemcpyPeer(CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context, size_t bytes);
CUresult cuMemcpy2D_v2(const struct call_copy_2d *copy);
CUresult cuMemcpy2DAsync_v2(const struct call_copy_2d *copy, void *stream);
CUresult cuMemcpy3D_v2(const struct call_copy_3d *copy);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void *stream);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void *stream);
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height);
CUresult cuModuleLoadData(void **module, const void *image);
CUresult cuModuleGetFunction(void **function, void *module, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, void *module, const char *name);
CUresult cuModuleUnload(void *module);
CUresult cuLibraryLoadData(void **library, const void *image, int *a, void **b, unsigned c, int *d, void **e,
                           unsigned f);
CUresult cuLibraryGetKernel(void **kernel, void *library, const char *name);
CUresult cuKernelGetFunction(void **function, void *kernel);
CUresult cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes);
CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **parameters, void **extra);
CUresult cuLaunchKernel_ptsz(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, void *stream, void **parameters, void **extra);
CUresult cuLaunchKernelEx(const struct call_launch *config, void *function, void **parameters, void **extra);
CUresult cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, void *stream, void **parameters);
CUresult cuStreamBeginCapture_v2(void *stream, int mode);
CUresult cuStreamEndCapture(void *stream, void **graph);
CUresult cuStreamIsCapturing(void *stream, int *status);
CUresult cuThreadExchangeStreamCaptureMode(int *mode);
CUresult cuGraphCreate(void **graph, unsigned flags);
CUresult cuGraphAddHostNode(void **node, void *graph, void *const *dependencies, size_t count, const void *parameters);
CUresult cuGraphDestroy(void *graph);
CUresult cuGraphGetNodes(void *graph, void **nodes, size_t *count);
CUresult cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
CUresult cuGraphLaunch(void *exec, void *stream);
CUresult cuGraphExecDestroy(void *exec);
CUresult cuUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned references, unsigned flags);
CUresult cuUserObjectRelease(void *object, unsigned references);
CUresult cuGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);
CUresult cuGraphExecUpdate(void *exec, void *graph, void **node, int *result);
CUresult cuGraphAddMemAllocNode(void **node, void *graph, void *const *needs, size_t count, struct call_alloc_node *p);
CUresult cuGraphAddMemsetNode(void **node, void *graph, void *const *needs, size_t count, const void *set,
                              void *context);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value);
CUresult cuGreenCtxCreate(void **context, void *description, CUdevice device, unsigned flags);

#endif
