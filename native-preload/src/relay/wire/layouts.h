/*
 * Structures of the driver API that the relay port reads or writes, as cuda.h 13.0 lays them out on x86-64; pointers and
 * handles are 64-bit numbers here. checks/layouts.c compares them with the description of the driver.
 */
#ifndef TESSERA_RELAY_LAYOUTS_H
#define TESSERA_RELAY_LAYOUTS_H

#include <stdint.h>

/* CUlaunchAttribute. `value` is also CUstreamAttrValue and CUkernelNodeAttrValue. */
struct layout_launch_attribute {
    uint32_t id;
    uint32_t pad;
    union {
        unsigned char bytes[64];
        uint64_t event; /* PROGRAMMATIC_EVENT, COMPLETION_EVENT */
        uint32_t dimension[3];
        int32_t number;
    } value;
};

/* CUlaunchConfig */
struct layout_launch_config {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t pad;
    uint64_t stream;
    uint64_t attributes;
    uint32_t attribute_count;
    uint32_t pad2;
};

/* CUDA_KERNEL_NODE_PARAMS_v2; the first 56 bytes are CUDA_KERNEL_NODE_PARAMS_v1 */
struct layout_kernel_node {
    uint64_t function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t pad;
    uint64_t parameters;
    uint64_t extra;
    uint64_t kernel;
    uint64_t context;
};
#define LAYOUT_KERNEL_NODE_V1 56u

/* CUDA_MEMCPY3D */
struct layout_copy_side {
    uint64_t x_bytes, y, z, lod;
    uint32_t memory_type; /* CU_MEMORYTYPE_ */
    uint32_t pad;
    uint64_t host, device, array, reserved;
    uint64_t pitch, height;
};
struct layout_copy {
    struct layout_copy_side source, destination;
    uint64_t width_bytes, height, depth;
};

/* CUmemcpy3DOperand, in elements: an address with row length and layer height, or an array with an offset, whose x, y and z are in
 * row_length, layer_height and hint. */
struct layout_operand {
    uint32_t type; /* CU_MEMCPY_OPERAND_TYPE_ */
    uint32_t pad;
    uint64_t at, row_length, layer_height;
    uint64_t hint;
};

/* CUDA_MEMCPY3D_BATCH_OP */
struct layout_box_copy {
    struct layout_operand source, destination;
    uint64_t width, height, depth;
    uint32_t access_order, flags;
};

/* CUDA_MEMSET_NODE_PARAMS_v2; the first 40 bytes are version 1 */
struct layout_memset_node {
    uint64_t destination, pitch;
    uint32_t value, element_bytes;
    uint64_t width, height;
    uint64_t context;
};
#define LAYOUT_MEMSET_NODE_V1 40u

/* CUDA_HOST_NODE_PARAMS */
struct layout_host_node {
    uint64_t function, data;
};

/* CUDA_BATCH_MEM_OP_NODE_PARAMS */
struct layout_memory_ops_node {
    uint64_t context;
    uint32_t count, pad;
    uint64_t operations;
    uint32_t flags, pad2;
};
#define LAYOUT_MEMORY_OP 48u /* CUstreamBatchMemOpParams */

/* CUDA_MEM_ALLOC_NODE_PARAMS */
struct layout_alloc_node {
    unsigned char pool[88]; /* CUmemPoolProps */
    uint64_t access;
    uint64_t access_count;
    uint64_t bytes;
    uint64_t pointer;
};
#define LAYOUT_ACCESS 12u /* CUmemAccessDesc */

#define LAYOUT_UPDATE_RESULT 24u /* CUgraphExecUpdateResultInfo */

/* CUDA_CONDITIONAL_NODE_PARAMS */
struct layout_conditional_node {
    uint64_t handle;
    uint32_t type, size;
    uint64_t graphs; /* out: the driver's array of size graphs */
    uint64_t context;
};

/* CUDA_MEMCPY_NODE_PARAMS */
struct layout_copy_node {
    int32_t flags, reserved;
    uint64_t context;
    struct layout_copy copy;
};

/* CUDA_EVENT_RECORD_NODE_PARAMS, CUDA_EVENT_WAIT_NODE_PARAMS, CUDA_CHILD_GRAPH_NODE_PARAMS, CUDA_MEM_FREE_NODE_PARAMS */
struct layout_handle_node {
    uint64_t handle;
    uint64_t more; /* child graphs: ownership */
};

/* CUgraphNodeParams */
struct layout_node {
    uint32_t type;
    uint32_t reserved[3];
    union {
        uint64_t reserved[29];
        struct layout_kernel_node kernel;
        struct layout_copy_node copy;
        struct layout_memset_node memset;
        struct layout_host_node host;
        struct layout_handle_node handle;
        struct layout_memory_ops_node operations;
        struct layout_alloc_node alloc;
        struct layout_conditional_node conditional;
    } of;
    uint64_t reserved2;
};

/* CUDA_LAUNCH_PARAMS */
struct layout_launch_params {
    uint64_t function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t pad;
    uint64_t stream;
    uint64_t parameters;
};

#endif
