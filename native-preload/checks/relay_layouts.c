/*
 * The relay's own structures against the vendor's header: compiled where a toolkit is installed (checks/layouts), run
 * never. Sizes and offsets only; what the fields mean is the header's.
 */
#include <cuda.h>
#include <stddef.h>

#include "relay/wire/layouts.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME(ours, field, theirs, their_field)                                                                         \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field), #theirs "." #their_field)

SAME_SIZE(struct layout_launch_attribute, CUlaunchAttribute);
SAME(struct layout_launch_attribute, value, CUlaunchAttribute, value);
SAME(struct layout_launch_attribute, value.event, CUlaunchAttribute, value.programmaticEvent.event);
SAME(struct layout_launch_attribute, value.event, CUlaunchAttribute, value.launchCompletionEvent.event);
SAME(struct layout_launch_attribute, value.dimension, CUlaunchAttribute, value.clusterDim.x);

SAME_SIZE(struct layout_launch_config, CUlaunchConfig);
SAME(struct layout_launch_config, stream, CUlaunchConfig, hStream);
SAME(struct layout_launch_config, attributes, CUlaunchConfig, attrs);
SAME(struct layout_launch_config, attribute_count, CUlaunchConfig, numAttrs);

SAME_SIZE(struct layout_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2);
_Static_assert(LAYOUT_KERNEL_NODE_V1 == sizeof(CUDA_KERNEL_NODE_PARAMS_v1), "version 1");
SAME(struct layout_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME(struct layout_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME(struct layout_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME(struct layout_kernel_node, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);

SAME_SIZE(struct layout_copy, CUDA_MEMCPY3D);
SAME(struct layout_copy, source.memory_type, CUDA_MEMCPY3D, srcMemoryType);
SAME(struct layout_copy, source.host, CUDA_MEMCPY3D, srcHost);
SAME(struct layout_copy, source.device, CUDA_MEMCPY3D, srcDevice);
SAME(struct layout_copy, destination.memory_type, CUDA_MEMCPY3D, dstMemoryType);
SAME(struct layout_copy, destination.host, CUDA_MEMCPY3D, dstHost);
SAME(struct layout_copy, destination.device, CUDA_MEMCPY3D, dstDevice);
SAME(struct layout_copy, depth, CUDA_MEMCPY3D, Depth);

SAME_SIZE(struct layout_operand, CUmemcpy3DOperand);
SAME(struct layout_operand, at, CUmemcpy3DOperand, op.ptr.ptr);
SAME(struct layout_operand, row_length, CUmemcpy3DOperand, op.ptr.rowLength);
SAME(struct layout_operand, layer_height, CUmemcpy3DOperand, op.ptr.layerHeight);
SAME_SIZE(struct layout_box_copy, CUDA_MEMCPY3D_BATCH_OP);
SAME(struct layout_box_copy, destination, CUDA_MEMCPY3D_BATCH_OP, dst);
SAME(struct layout_box_copy, width, CUDA_MEMCPY3D_BATCH_OP, extent.width);
SAME(struct layout_box_copy, access_order, CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder);

SAME_SIZE(struct layout_memset_node, CUDA_MEMSET_NODE_PARAMS_v2);
_Static_assert(LAYOUT_MEMSET_NODE_V1 == sizeof(CUDA_MEMSET_NODE_PARAMS_v1), "version 1");
SAME(struct layout_memset_node, context, CUDA_MEMSET_NODE_PARAMS_v2, ctx);
SAME_SIZE(struct layout_host_node, CUDA_HOST_NODE_PARAMS);
SAME_SIZE(struct layout_memory_ops_node, CUDA_BATCH_MEM_OP_NODE_PARAMS);
SAME(struct layout_memory_ops_node, operations, CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray);
_Static_assert(LAYOUT_MEMORY_OP == sizeof(CUstreamBatchMemOpParams), "CUstreamBatchMemOpParams");
SAME_SIZE(struct layout_alloc_node, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME(struct layout_alloc_node, access, CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs);
SAME(struct layout_alloc_node, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
SAME(struct layout_alloc_node, pointer, CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
_Static_assert(LAYOUT_ACCESS == sizeof(CUmemAccessDesc), "CUmemAccessDesc");
SAME_SIZE(struct layout_conditional_node, CUDA_CONDITIONAL_NODE_PARAMS);
SAME(struct layout_conditional_node, size, CUDA_CONDITIONAL_NODE_PARAMS, size);
SAME(struct layout_conditional_node, graphs, CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out);
SAME_SIZE(struct layout_copy_node, CUDA_MEMCPY_NODE_PARAMS);
SAME(struct layout_copy_node, context, CUDA_MEMCPY_NODE_PARAMS, copyCtx);
SAME(struct layout_copy_node, copy, CUDA_MEMCPY_NODE_PARAMS, copyParams);

SAME_SIZE(struct layout_node, CUgraphNodeParams);
SAME(struct layout_node, of, CUgraphNodeParams, reserved1);
SAME(struct layout_node, reserved2, CUgraphNodeParams, reserved2);
_Static_assert((int)CU_GRAPH_NODE_TYPE_CONDITIONAL == (int)CU_GRAPH_NODE_TYPE_CONDITIONAL &&
                   (int)CU_GRAPH_NODE_TYPE_MEM_ALLOC == (int)CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
                   (int)CU_GRAPH_NODE_TYPE_BATCH_MEM_OP == (int)CU_GRAPH_NODE_TYPE_BATCH_MEM_OP &&
                   (int)CU_GRAPH_NODE_TYPE_WAIT_EVENT == (int)CU_GRAPH_NODE_TYPE_WAIT_EVENT,
               "CUgraphNodeType");
