/* What `standing` does to a context, and with what: declared here so that no toolkit is needed to build it. */
#ifndef PROGRAMS_STANDING_H
#define PROGRAMS_STANDING_H

#include "driver.h"
#include "cuda_constants.h"

typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
extern int cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
extern int cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
extern int cuFuncGetAttribute(int *, int, CUfunction);
extern int cuFuncLoad(CUfunction);
extern int cuLibraryLoadData(CUlibrary *, const void *, void *, void **, unsigned, void *, void **, unsigned);
extern int cuLibraryGetKernel(CUkernel *, CUlibrary, const char *);
extern int cuKernelGetFunction(CUfunction *, CUkernel);
extern int cuStreamCreateWithPriority(CUstream *, unsigned, int);
extern int cuStreamDestroy_v2(CUstream);
extern int cuStreamWriteValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
extern int cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
extern int cuMemFreeAsync(CUdeviceptr, CUstream);
extern int cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
extern int cuMemAdvise(CUdeviceptr, size_t, int, int);
extern int cuMemPrefetchAsync(CUdeviceptr, size_t, int, CUstream);
struct location {
    int type, id;
};
struct allocation {
    int type, handles;
    struct location location;
    void *win32;
    unsigned char flags[8], reserved[24];
};
struct access {
    struct location location;
    int flags;
};
extern int cuMemCreate(uint64_t *, size_t, const struct allocation *, unsigned long long);
extern int cuMemRelease(uint64_t);
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
extern int cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, unsigned long long);
extern int cuMemUnmap(CUdeviceptr, size_t);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);
struct array_shape {
    size_t width, height;
    int format;
    unsigned channels;
};
extern int cuArrayCreate_v2(void **, const struct array_shape *);
extern int cuArrayDestroy(void *);
extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuMemHostUnregister(void *);
extern int cuCtxSetLimit(int, size_t);
extern int cuGraphCreate(void **, unsigned);
struct kernel_node {
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra, *kernel, *context;
};
extern int cuGraphAddKernelNode_v2(void **, void *, void **, size_t, const struct kernel_node *);
extern int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
extern int cuGraphLaunch(void *, CUstream);
extern int cuGraphExecDestroy(void *);
extern int cuLaunchHostFunc(CUstream, void (*)(void *), void *);
extern int cuMemPoolTrimTo(void *, size_t);
extern int cuDeviceGetDefaultMemPool(void **, int);
extern int cuEventDestroy_v2(CUevent);
extern int cuMemGetInfo_v2(size_t *, size_t *);
extern int cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
extern int cuLibraryUnload(CUlibrary);
extern int cuFuncSetAttribute(CUfunction, int, int);

enum { PREFERRED_LOCATION = 3, GO = 77 };
enum { PATIENCE_MS = 2000, BYTES = 1 << 20 };

/* What all operations work with; those that are made before something stands, and those that operations make. */
extern struct world {
    CUcontext context;
    CUstream stands, runs, idle;
    CUmodule loaded, module, spare;
    CUfunction first, second, other;
    CUlibrary library;
    CUdeviceptr memory, spare_memory;
    CUevent event;
    void *pinned;
} world;

/* One thing to do while a stream stands still. */
struct operation {
    const char *name;
    int (*before)(void); /* while nothing stands yet; NULL: nothing */
    int (*run)(void);
};
extern const struct operation operations[];
extern const int operation_count;

/* Two kernels; the second is asked for late. */
extern const char *const two_kernels;
/* Launches a function of one parameter in the stream that runs. Returns the CUresult. */
int launch(CUfunction function);

#endif
