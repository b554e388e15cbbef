/* What the measuring programs use of the driver API, declared here so that no toolkit is needed to build them. */
#ifndef PROGRAMS_DRIVER_H
#define PROGRAMS_DRIVER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
extern int cuInit(unsigned);
extern int cuDeviceGet(int *, int);
extern int cuDevicePrimaryCtxRetain(CUcontext *, int);
extern int cuDevicePrimaryCtxRelease_v2(int);
extern int cuCtxSetCurrent(CUcontext);
extern int cuCtxSynchronize(void);
extern int cuModuleLoadData(CUmodule *, const void *);
extern int cuModuleUnload(CUmodule);
extern int cuModuleGetFunction(CUfunction *, CUmodule, const char *);
extern int cuMemAlloc_v2(CUdeviceptr *, size_t);
extern int cuMemFree_v2(CUdeviceptr);
extern int cuMemHostAlloc(void **, size_t, unsigned);
extern int cuMemFreeHost(void *);
extern int cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
extern int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
extern int cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
extern int cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream);
extern int cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream);
extern int cuStreamCreate(CUstream *, unsigned);
extern int cuStreamSynchronize(CUstream);
extern int cuStreamQuery(CUstream);
extern int cuEventCreate(CUevent *, unsigned);
extern int cuEventRecord(CUevent, CUstream);
extern int cuEventQuery(CUevent);
extern int cuEventSynchronize(CUevent);
extern int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                          void **, void **);
extern int cuGetErrorName(int, const char **);

static inline void check(int result, const char *what)
{
    if (result == 0)
        return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s failed: %s (%d)\n", what, name, result);
    exit(1);
}
#define CHECK(call) check((call), #call)

/* A stream in the first device's context, which becomes the thread's. */
static inline CUstream open_stream(void)
{
    CUcontext context;
    CUstream stream;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 0));
    return stream;
}

static inline int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
