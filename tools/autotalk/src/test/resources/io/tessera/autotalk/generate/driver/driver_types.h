#ifndef DRIVER_TYPES_H
#define DRIVER_TYPES_H

#define TESSERA_EXPORT __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;

#endif
