/*
 * The driver ABI as far as this stand-in serves it: structures and ids, written down by us from the facts
 * of the CUDA 13.0 driver API. No vendor header is used. The build compares the structures with the description
 * of the driver (test/layouts.c).
 */
#ifndef SCRIPTED_ABI_H
#define SCRIPTED_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "constants.h"

#define EXPORT __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;

#define STREAM_LEGACY ((uintptr_t)1)
#define STREAM_PER_THREAD ((uintptr_t)2)

typedef struct {
    unsigned char bytes[16];
} CUuuid;

typedef struct {
    unsigned char bytes[64];
} CUipcMemHandle;

struct location {
    int type; /* CU_MEM_LOCATION_TYPE_ */
    int id;
};

struct access_descriptor {
    struct location location;
    int flags; /* CU_MEM_ACCESS_FLAGS_ */
};

struct pool_properties {
    int allocation_type; /* CU_MEM_ALLOCATION_TYPE_ */
    int handle_types;
    struct location location;
    void *security_attributes;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};

struct allocation_properties {
    int type;
    int requested_handle_types; /* CU_MEM_HANDLE_TYPE_ */
    struct location location;
    void *win32_metadata;
    unsigned char flags[8];
};

struct launch_config {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
};

struct array_descriptor {
    size_t width, height;
    int format;
    unsigned channels;
};

struct array3d_descriptor {
    size_t width, height, depth;
    int format;
    unsigned channels;
    unsigned flags;
};

struct copy_2d {
    size_t source_x, source_y;
    int source_type;
    const void *source_host;
    CUdeviceptr source_device;
    void *source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    int target_type;
    void *target_host;
    CUdeviceptr target_device;
    void *target_array;
    size_t target_pitch;
    size_t width, height;
};

/* Serves the peer form too: there the reserved words are contexts. */
struct copy_3d {
    size_t source_x, source_y, source_z, source_level;
    int source_type;
    const void *source_host;
    CUdeviceptr source_device;
    void *source_array;
    void *source_context;
    size_t source_pitch, source_height;
    size_t target_x, target_y, target_z, target_level;
    int target_type;
    void *target_host;
    CUdeviceptr target_device;
    void *target_array;
    void *target_context;
    size_t target_pitch, target_height;
    size_t width, height, depth;
};

struct kernel_node_parameters {
    void *function;
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    void **parameters;
    void **extra;
    void *kernel;
    void *context;
};

struct memset_node_parameters {
    CUdeviceptr target;
    size_t pitch;
    unsigned value;
    unsigned element_bytes;
    size_t width, height;
};

struct host_node_parameters {
    void (*function)(void *);
    void *data;
};

struct alloc_node_parameters {
    struct pool_properties pool;
    const struct access_descriptor *access;
    size_t access_count;
    size_t bytes;
    CUdeviceptr pointer;
};

struct instantiate_parameters {
    uint64_t flags;
    void *upload_stream;
    void *error_node;
    int result;
};

#endif
