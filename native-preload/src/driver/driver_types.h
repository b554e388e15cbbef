/*
 * The driver ABI as far as hooks look into it: scalar types, result codes, attribute ids, and the structures whose
 * fields a hook reads. Facts of the CUDA driver API 13.0, written down by us; checked against the vendor's answers by
 * the GPU suites. Handle types and entry prototypes are generated from native-preload/api (tessera_entries.h).
 */
#ifndef TESSERA_DRIVER_TYPES_H
#define TESSERA_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define TESSERA_EXPORT __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_DEINITIALIZED = 4, /* the process ends, and the driver has let go of everything: nothing to report */
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
};

/* Special stream handles (cuda.h: CU_STREAM_LEGACY, CU_STREAM_PER_THREAD). */
#define TESSERA_STREAM_LEGACY ((uintptr_t)1)
#define TESSERA_STREAM_PER_THREAD ((uintptr_t)2)

enum {
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
};

enum {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
};

enum { CU_MEM_ATTACH_GLOBAL = 1 };
enum { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum { CU_STREAM_CAPTURE_STATUS_NONE = 0, CU_STREAM_CAPTURE_STATUS_ACTIVE = 1 };
enum { CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_MEMHOSTREGISTER_PORTABLE = 1 };
enum { CU_MEM_ACCESS_FLAGS_PROT_NONE = 0, CU_MEM_ACCESS_FLAGS_PROT_READ = 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };

enum { CU_MEM_ALLOCATION_TYPE_PINNED = 1, CU_MEM_ALLOCATION_TYPE_MANAGED = 2 };
enum { CU_MEM_LOCATION_TYPE_DEVICE = 1 };
enum { CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1 };
enum { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };

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
