/* The memsets without a stream. They do not wait for the device, so the client sends their asynchronous forms. */
#include "relay_stubs.h"

#define MEMSET(name, type)                                                                                             \
    CUresult relay_cuMemset##name##_v2(CUdeviceptr to, type value, size_t count)                                       \
    {                                                                                                                  \
        return relay_cuMemset##name##Async(to, value, count, NULL);                                                    \
    }                                                                                                                  \
    CUresult relay_cuMemset##name##_v2_ptds(CUdeviceptr to, type value, size_t count)                                  \
    {                                                                                                                  \
        return relay_cuMemset##name##Async(to, value, count, (CUstream)TESSERA_STREAM_PER_THREAD);                     \
    }

#define MEMSET_PLANE(name, type)                                                                                       \
    CUresult relay_cuMemset##name##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height)          \
    {                                                                                                                  \
        return relay_cuMemset##name##Async(to, pitch, value, width, height, NULL);                                     \
    }                                                                                                                  \
    CUresult relay_cuMemset##name##_v2_ptds(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height)     \
    {                                                                                                                  \
        return relay_cuMemset##name##Async(to, pitch, value, width, height, (CUstream)TESSERA_STREAM_PER_THREAD);      \
    }

MEMSET(D8, unsigned char)
MEMSET(D16, unsigned short)
MEMSET(D32, unsigned)
MEMSET_PLANE(D2D8, unsigned char)
MEMSET_PLANE(D2D16, unsigned short)
MEMSET_PLANE(D2D32, unsigned)
