/* What the program uses of the driver API beyond what the other measuring programs declare. */
#ifndef FENCES_DRIVER_H
#define FENCES_DRIVER_H

#include "../programs/driver.h"

struct location {
    int type, id;
};
struct allocation {
    int type, handleTypes;
    struct location location;
    void *win32;
    unsigned char flags[8];
};
struct access {
    struct location location;
    int flags;
};
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
extern int cuMemCreate(unsigned long long *, size_t, const struct allocation *, unsigned long long);
extern int cuMemMap(CUdeviceptr, size_t, size_t, unsigned long long, unsigned long long);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);
extern int cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
extern int cuLinkCreate_v2(unsigned, int *, void **, void **);
extern int cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
extern int cuLinkComplete(void *, void **, size_t *);
extern int cuLinkDestroy(void *);
extern int cuLibraryLoadData(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
extern int cuLibraryUnload(void *);
extern int cuLibraryGetModule(CUmodule *, void *);
extern int cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
extern int cuDeviceGetAttribute(int *, int, int);
extern int cuFuncGetAttribute(int *, int, CUfunction);
extern int cuEventElapsedTime(float *, CUevent, CUevent);

enum { FUNCTION_LOCAL_BYTES = 3, FUNCTION_REGISTERS = 4 };

#endif
