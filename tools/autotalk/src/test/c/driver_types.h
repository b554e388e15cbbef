/* Stands in for the preload library's own header. */
#pragma once
#include <stddef.h>
#define TESSERA_EXPORT __attribute__((visibility("default")))
typedef int CUresult;
typedef unsigned long long CUdeviceptr;
