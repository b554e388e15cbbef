/*
 * The part of the driver ABI that hooks read: scalar types, and the structures whose fields a hook reads. These are facts of
 * the CUDA driver API 13.0, written by us; the GPU suites check them against the vendor's answers. Result codes and other
 * enumerators (cuda_constants.h), handle types and entry prototypes (tessera_entries.h) are generated from native-preload/api.
 */
#ifndef TESSERA_DRIVER_TYPES_H
#define TESSERA_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_constants.h"

#define TESSERA_EXPORT __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;

/* Special stream handles (cuda.h: CU_STREAM_LEGACY, CU_STREAM_PER_THREAD). */
#define TESSERA_STREAM_LEGACY ((uintptr_t)1)
#define TESSERA_STREAM_PER_THREAD ((uintptr_t)2)

struct driver_mem_location {
    int type;
    int id;
};

/* CUmemPoolProps */
struct driver_pool_properties {
    int allocation_type;
    int handle_types;
    struct driver_mem_location location;
    void *security_attributes;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};

/* CUmemAllocationProp */
struct driver_allocation_properties {
    int type;
    int requested_handle_types;
    struct driver_mem_location location;
    void *win32_handle_metadata;
    struct {
        unsigned char compression_type;
        unsigned char gpu_direct_rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};

/* CUmemAccessDesc */
struct driver_access {
    struct driver_mem_location location;
    int flags;
};

/* CUDA_ARRAY_DESCRIPTOR, with size_t extents (v2) and 32-bit extents (v1) */
struct driver_array_descriptor {
    size_t width, height;
    int format;
    unsigned channels;
};
struct driver_array_descriptor_v1 {
    unsigned width, height;
    int format;
    unsigned channels;
};

/* CUDA_ARRAY3D_DESCRIPTOR */
struct driver_array3d_descriptor {
    size_t width, height, depth;
    int format;
    unsigned channels;
    unsigned flags;
};
struct driver_array3d_descriptor_v1 {
    unsigned width, height, depth;
    int format;
    unsigned channels;
    unsigned flags;
};

/* CUDA_MEM_ALLOC_NODE_PARAMS */
struct driver_alloc_node_parameters {
    struct driver_pool_properties pool;
    const void *access;
    size_t access_count;
    size_t bytes;
    CUdeviceptr pointer;
};

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC */
struct driver_external_memory {
    int type;
    union {
        int descriptor;
        void *pointers[2];
    } handle;
    unsigned long long bytes;
    unsigned flags;
    unsigned reserved[16];
};

/* CUlaunchConfig, up to the stream */
struct driver_launch_config {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
};

#endif
