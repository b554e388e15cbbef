/*
 * The structures that the library reads or writes, against the description of the driver: compiled by each build, run never. Sizes
 * and offsets only; the meaning of members is the header's.
 */
#include <stddef.h>

#include "cuda_layouts.h"
#include "driver/driver_types.h"
#include "relay/wire/layouts.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == theirs##_BYTES, #theirs)
#define SAME(ours, field, member) _Static_assert(offsetof(ours, field) == member, #member)

SAME_SIZE(struct layout_launch_attribute, CUlaunchAttribute);
SAME(struct layout_launch_attribute, value, CUlaunchAttribute_value);

SAME_SIZE(struct layout_launch_config, CUlaunchConfig);
SAME(struct layout_launch_config, stream, CUlaunchConfig_hStream);
SAME(struct layout_launch_config, attributes, CUlaunchConfig_attrs);
SAME(struct layout_launch_config, attribute_count, CUlaunchConfig_numAttrs);

SAME_SIZE(struct layout_kernel_node, CUDA_KERNEL_NODE_PARAMS);
_Static_assert(LAYOUT_KERNEL_NODE_V1 == CUDA_KERNEL_NODE_PARAMS_v1_BYTES, "CUDA_KERNEL_NODE_PARAMS_v1");
SAME(struct layout_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_kernelParams);
SAME(struct layout_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_extra);
SAME(struct layout_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_kern);
SAME(struct layout_kernel_node, context, CUDA_KERNEL_NODE_PARAMS_ctx);

SAME_SIZE(struct layout_copy, CUDA_MEMCPY3D);
SAME(struct layout_copy, source.memory_type, CUDA_MEMCPY3D_srcMemoryType);
SAME(struct layout_copy, source.host, CUDA_MEMCPY3D_srcHost);
SAME(struct layout_copy, source.device, CUDA_MEMCPY3D_srcDevice);
SAME(struct layout_copy, destination.memory_type, CUDA_MEMCPY3D_dstMemoryType);
SAME(struct layout_copy, destination.host, CUDA_MEMCPY3D_dstHost);
SAME(struct layout_copy, destination.device, CUDA_MEMCPY3D_dstDevice);
SAME(struct layout_copy, depth, CUDA_MEMCPY3D_Depth);

SAME_SIZE(struct layout_operand, CUmemcpy3DOperand);
SAME(struct layout_operand, at, CUmemcpy3DOperand_op_ptr_ptr);
SAME(struct layout_operand, row_length, CUmemcpy3DOperand_op_ptr_rowLength);
SAME(struct layout_operand, layer_height, CUmemcpy3DOperand_op_ptr_layerHeight);
SAME_SIZE(struct layout_box_copy, CUDA_MEMCPY3D_BATCH_OP);
SAME(struct layout_box_copy, destination, CUDA_MEMCPY3D_BATCH_OP_dst);
SAME(struct layout_box_copy, width, CUDA_MEMCPY3D_BATCH_OP_extent);
SAME(struct layout_box_copy, access_order, CUDA_MEMCPY3D_BATCH_OP_srcAccessOrder);

SAME_SIZE(struct layout_memset_node, CUDA_MEMSET_NODE_PARAMS_v2);
_Static_assert(LAYOUT_MEMSET_NODE_V1 == CUDA_MEMSET_NODE_PARAMS_BYTES, "CUDA_MEMSET_NODE_PARAMS");
SAME(struct layout_memset_node, context, CUDA_MEMSET_NODE_PARAMS_v2_ctx);
SAME_SIZE(struct layout_host_node, CUDA_HOST_NODE_PARAMS);
SAME_SIZE(struct layout_memory_ops_node, CUDA_BATCH_MEM_OP_NODE_PARAMS);
SAME(struct layout_memory_ops_node, operations, CUDA_BATCH_MEM_OP_NODE_PARAMS_paramArray);
_Static_assert(LAYOUT_MEMORY_OP == CUstreamBatchMemOpParams_BYTES, "CUstreamBatchMemOpParams");
SAME_SIZE(struct layout_alloc_node, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME(struct layout_alloc_node, access, CUDA_MEM_ALLOC_NODE_PARAMS_accessDescs);
SAME(struct layout_alloc_node, bytes, CUDA_MEM_ALLOC_NODE_PARAMS_bytesize);
SAME(struct layout_alloc_node, pointer, CUDA_MEM_ALLOC_NODE_PARAMS_dptr);
_Static_assert(LAYOUT_ACCESS == CUmemAccessDesc_BYTES, "CUmemAccessDesc");
_Static_assert(LAYOUT_UPDATE_RESULT == CUgraphExecUpdateResultInfo_BYTES, "CUgraphExecUpdateResultInfo");
SAME_SIZE(struct layout_conditional_node, CUDA_CONDITIONAL_NODE_PARAMS);
SAME(struct layout_conditional_node, size, CUDA_CONDITIONAL_NODE_PARAMS_size);
SAME(struct layout_conditional_node, graphs, CUDA_CONDITIONAL_NODE_PARAMS_phGraph_out);
SAME_SIZE(struct layout_copy_node, CUDA_MEMCPY_NODE_PARAMS);
SAME(struct layout_copy_node, context, CUDA_MEMCPY_NODE_PARAMS_copyCtx);
SAME(struct layout_copy_node, copy, CUDA_MEMCPY_NODE_PARAMS_copyParams);

SAME_SIZE(struct layout_node, CUgraphNodeParams);
SAME(struct layout_node, of, CUgraphNodeParams_reserved1);
SAME(struct layout_node, reserved2, CUgraphNodeParams_reserved2);
SAME_SIZE(struct layout_launch_params, CUDA_LAUNCH_PARAMS);
SAME(struct layout_launch_params, stream, CUDA_LAUNCH_PARAMS_hStream);
SAME(struct layout_launch_params, parameters, CUDA_LAUNCH_PARAMS_kernelParams);

SAME_SIZE(struct driver_pool_properties, CUmemPoolProps);
SAME(struct driver_pool_properties, handle_types, CUmemPoolProps_handleTypes);
SAME(struct driver_pool_properties, location, CUmemPoolProps_location);
SAME(struct driver_pool_properties, security_attributes, CUmemPoolProps_win32SecurityAttributes);
SAME(struct driver_pool_properties, max_bytes, CUmemPoolProps_maxSize);
SAME(struct driver_pool_properties, usage, CUmemPoolProps_usage);
SAME_SIZE(struct driver_allocation_properties, CUmemAllocationProp);
SAME(struct driver_allocation_properties, requested_handle_types, CUmemAllocationProp_requestedHandleTypes);
SAME(struct driver_allocation_properties, location, CUmemAllocationProp_location);
SAME(struct driver_allocation_properties, flags.gpu_direct_rdma_capable,
     CUmemAllocationProp_allocFlags_gpuDirectRDMACapable);
SAME(struct driver_allocation_properties, flags.usage, CUmemAllocationProp_allocFlags_usage);
SAME_SIZE(struct driver_access, CUmemAccessDesc);
SAME(struct driver_access, flags, CUmemAccessDesc_flags);
SAME_SIZE(struct driver_array_descriptor, CUDA_ARRAY_DESCRIPTOR);
SAME(struct driver_array_descriptor, format, CUDA_ARRAY_DESCRIPTOR_Format);
SAME(struct driver_array_descriptor, channels, CUDA_ARRAY_DESCRIPTOR_NumChannels);
SAME_SIZE(struct driver_array_descriptor_v1, CUDA_ARRAY_DESCRIPTOR_v1);
SAME_SIZE(struct driver_array3d_descriptor, CUDA_ARRAY3D_DESCRIPTOR);
SAME(struct driver_array3d_descriptor, channels, CUDA_ARRAY3D_DESCRIPTOR_NumChannels);
SAME(struct driver_array3d_descriptor, flags, CUDA_ARRAY3D_DESCRIPTOR_Flags);
SAME_SIZE(struct driver_array3d_descriptor_v1, CUDA_ARRAY3D_DESCRIPTOR_v1);
SAME_SIZE(struct driver_alloc_node_parameters, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME(struct driver_alloc_node_parameters, access, CUDA_MEM_ALLOC_NODE_PARAMS_accessDescs);
SAME(struct driver_alloc_node_parameters, bytes, CUDA_MEM_ALLOC_NODE_PARAMS_bytesize);
SAME(struct driver_alloc_node_parameters, pointer, CUDA_MEM_ALLOC_NODE_PARAMS_dptr);
SAME_SIZE(struct driver_external_memory, CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
SAME(struct driver_external_memory, handle.descriptor, CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_fd);
SAME(struct driver_external_memory, bytes, CUDA_EXTERNAL_MEMORY_HANDLE_DESC_size);
SAME(struct driver_external_memory, flags, CUDA_EXTERNAL_MEMORY_HANDLE_DESC_flags);
SAME_SIZE(struct driver_launch_config, CUlaunchConfig);
SAME(struct driver_launch_config, stream, CUlaunchConfig_hStream);
SAME(struct driver_launch_config, attributes, CUlaunchConfig_attrs);
SAME(struct driver_launch_config, attribute_count, CUlaunchConfig_numAttrs);
