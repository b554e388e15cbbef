/*
 * The structures that this driver serves, against the description of the driver: compiled by each build, run never. Sizes and
 * offsets of all members; the meaning of members is the description's.
 */
#include "abi.h"
#include "cuda_layouts.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == theirs##_BYTES, #theirs)
#define SAME(ours, field, member) _Static_assert(offsetof(ours, field) == member, #member)

SAME_SIZE(struct location, CUmemLocation);
SAME(struct location, type, CUmemLocation_type);
SAME(struct location, id, CUmemLocation_id);

SAME_SIZE(struct access_descriptor, CUmemAccessDesc);
SAME(struct access_descriptor, location, CUmemAccessDesc_location);
SAME(struct access_descriptor, flags, CUmemAccessDesc_flags);

SAME_SIZE(struct pool_properties, CUmemPoolProps);
SAME(struct pool_properties, allocation_type, CUmemPoolProps_allocType);
SAME(struct pool_properties, handle_types, CUmemPoolProps_handleTypes);
SAME(struct pool_properties, location, CUmemPoolProps_location);
SAME(struct pool_properties, security_attributes, CUmemPoolProps_win32SecurityAttributes);
SAME(struct pool_properties, max_bytes, CUmemPoolProps_maxSize);
SAME(struct pool_properties, usage, CUmemPoolProps_usage);
SAME(struct pool_properties, reserved, CUmemPoolProps_reserved);

SAME_SIZE(struct allocation_properties, CUmemAllocationProp);
SAME(struct allocation_properties, type, CUmemAllocationProp_type);
SAME(struct allocation_properties, requested_handle_types, CUmemAllocationProp_requestedHandleTypes);
SAME(struct allocation_properties, location, CUmemAllocationProp_location);
SAME(struct allocation_properties, win32_metadata, CUmemAllocationProp_win32HandleMetaData);
SAME(struct allocation_properties, flags, CUmemAllocationProp_allocFlags_compressionType);

SAME_SIZE(struct launch_config, CUlaunchConfig);
SAME(struct launch_config, grid, CUlaunchConfig_gridDimX);
SAME(struct launch_config, block, CUlaunchConfig_blockDimX);
SAME(struct launch_config, shared_bytes, CUlaunchConfig_sharedMemBytes);
SAME(struct launch_config, stream, CUlaunchConfig_hStream);
SAME(struct launch_config, attributes, CUlaunchConfig_attrs);
SAME(struct launch_config, attribute_count, CUlaunchConfig_numAttrs);

SAME_SIZE(struct array_descriptor, CUDA_ARRAY_DESCRIPTOR);
SAME(struct array_descriptor, width, CUDA_ARRAY_DESCRIPTOR_Width);
SAME(struct array_descriptor, height, CUDA_ARRAY_DESCRIPTOR_Height);
SAME(struct array_descriptor, format, CUDA_ARRAY_DESCRIPTOR_Format);
SAME(struct array_descriptor, channels, CUDA_ARRAY_DESCRIPTOR_NumChannels);

SAME_SIZE(struct array3d_descriptor, CUDA_ARRAY3D_DESCRIPTOR);
SAME(struct array3d_descriptor, width, CUDA_ARRAY3D_DESCRIPTOR_Width);
SAME(struct array3d_descriptor, height, CUDA_ARRAY3D_DESCRIPTOR_Height);
SAME(struct array3d_descriptor, depth, CUDA_ARRAY3D_DESCRIPTOR_Depth);
SAME(struct array3d_descriptor, format, CUDA_ARRAY3D_DESCRIPTOR_Format);
SAME(struct array3d_descriptor, channels, CUDA_ARRAY3D_DESCRIPTOR_NumChannels);
SAME(struct array3d_descriptor, flags, CUDA_ARRAY3D_DESCRIPTOR_Flags);

SAME_SIZE(struct copy_2d, CUDA_MEMCPY2D);
SAME(struct copy_2d, source_x, CUDA_MEMCPY2D_srcXInBytes);
SAME(struct copy_2d, source_y, CUDA_MEMCPY2D_srcY);
SAME(struct copy_2d, source_type, CUDA_MEMCPY2D_srcMemoryType);
SAME(struct copy_2d, source_host, CUDA_MEMCPY2D_srcHost);
SAME(struct copy_2d, source_device, CUDA_MEMCPY2D_srcDevice);
SAME(struct copy_2d, source_array, CUDA_MEMCPY2D_srcArray);
SAME(struct copy_2d, source_pitch, CUDA_MEMCPY2D_srcPitch);
SAME(struct copy_2d, target_x, CUDA_MEMCPY2D_dstXInBytes);
SAME(struct copy_2d, target_y, CUDA_MEMCPY2D_dstY);
SAME(struct copy_2d, target_type, CUDA_MEMCPY2D_dstMemoryType);
SAME(struct copy_2d, target_host, CUDA_MEMCPY2D_dstHost);
SAME(struct copy_2d, target_device, CUDA_MEMCPY2D_dstDevice);
SAME(struct copy_2d, target_array, CUDA_MEMCPY2D_dstArray);
SAME(struct copy_2d, target_pitch, CUDA_MEMCPY2D_dstPitch);
SAME(struct copy_2d, width, CUDA_MEMCPY2D_WidthInBytes);
SAME(struct copy_2d, height, CUDA_MEMCPY2D_Height);

SAME_SIZE(struct copy_3d, CUDA_MEMCPY3D);
SAME(struct copy_3d, source_x, CUDA_MEMCPY3D_srcXInBytes);
SAME(struct copy_3d, source_y, CUDA_MEMCPY3D_srcY);
SAME(struct copy_3d, source_z, CUDA_MEMCPY3D_srcZ);
SAME(struct copy_3d, source_level, CUDA_MEMCPY3D_srcLOD);
SAME(struct copy_3d, source_type, CUDA_MEMCPY3D_srcMemoryType);
SAME(struct copy_3d, source_host, CUDA_MEMCPY3D_srcHost);
SAME(struct copy_3d, source_device, CUDA_MEMCPY3D_srcDevice);
SAME(struct copy_3d, source_array, CUDA_MEMCPY3D_srcArray);
SAME(struct copy_3d, source_context, CUDA_MEMCPY3D_PEER_srcContext);
SAME(struct copy_3d, source_pitch, CUDA_MEMCPY3D_srcPitch);
SAME(struct copy_3d, source_height, CUDA_MEMCPY3D_srcHeight);
SAME(struct copy_3d, target_x, CUDA_MEMCPY3D_dstXInBytes);
SAME(struct copy_3d, target_y, CUDA_MEMCPY3D_dstY);
SAME(struct copy_3d, target_z, CUDA_MEMCPY3D_dstZ);
SAME(struct copy_3d, target_level, CUDA_MEMCPY3D_dstLOD);
SAME(struct copy_3d, target_type, CUDA_MEMCPY3D_dstMemoryType);
SAME(struct copy_3d, target_host, CUDA_MEMCPY3D_dstHost);
SAME(struct copy_3d, target_device, CUDA_MEMCPY3D_dstDevice);
SAME(struct copy_3d, target_array, CUDA_MEMCPY3D_dstArray);
SAME(struct copy_3d, target_context, CUDA_MEMCPY3D_PEER_dstContext);
SAME(struct copy_3d, target_pitch, CUDA_MEMCPY3D_dstPitch);
SAME(struct copy_3d, target_height, CUDA_MEMCPY3D_dstHeight);
SAME(struct copy_3d, width, CUDA_MEMCPY3D_WidthInBytes);
SAME(struct copy_3d, height, CUDA_MEMCPY3D_Height);
SAME(struct copy_3d, depth, CUDA_MEMCPY3D_Depth);

SAME_SIZE(struct kernel_node_parameters, CUDA_KERNEL_NODE_PARAMS);
SAME(struct kernel_node_parameters, function, CUDA_KERNEL_NODE_PARAMS_func);
SAME(struct kernel_node_parameters, grid, CUDA_KERNEL_NODE_PARAMS_gridDimX);
SAME(struct kernel_node_parameters, block, CUDA_KERNEL_NODE_PARAMS_blockDimX);
SAME(struct kernel_node_parameters, shared_bytes, CUDA_KERNEL_NODE_PARAMS_sharedMemBytes);
SAME(struct kernel_node_parameters, parameters, CUDA_KERNEL_NODE_PARAMS_kernelParams);
SAME(struct kernel_node_parameters, extra, CUDA_KERNEL_NODE_PARAMS_extra);
SAME(struct kernel_node_parameters, kernel, CUDA_KERNEL_NODE_PARAMS_kern);
SAME(struct kernel_node_parameters, context, CUDA_KERNEL_NODE_PARAMS_ctx);

SAME_SIZE(struct memset_node_parameters, CUDA_MEMSET_NODE_PARAMS);
SAME(struct memset_node_parameters, target, CUDA_MEMSET_NODE_PARAMS_dst);
SAME(struct memset_node_parameters, pitch, CUDA_MEMSET_NODE_PARAMS_pitch);
SAME(struct memset_node_parameters, value, CUDA_MEMSET_NODE_PARAMS_value);
SAME(struct memset_node_parameters, element_bytes, CUDA_MEMSET_NODE_PARAMS_elementSize);
SAME(struct memset_node_parameters, width, CUDA_MEMSET_NODE_PARAMS_width);
SAME(struct memset_node_parameters, height, CUDA_MEMSET_NODE_PARAMS_height);

SAME_SIZE(struct host_node_parameters, CUDA_HOST_NODE_PARAMS);
SAME(struct host_node_parameters, function, CUDA_HOST_NODE_PARAMS_fn);
SAME(struct host_node_parameters, data, CUDA_HOST_NODE_PARAMS_userData);

SAME_SIZE(struct alloc_node_parameters, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME(struct alloc_node_parameters, pool, CUDA_MEM_ALLOC_NODE_PARAMS_poolProps);
SAME(struct alloc_node_parameters, access, CUDA_MEM_ALLOC_NODE_PARAMS_accessDescs);
SAME(struct alloc_node_parameters, access_count, CUDA_MEM_ALLOC_NODE_PARAMS_accessDescCount);
SAME(struct alloc_node_parameters, bytes, CUDA_MEM_ALLOC_NODE_PARAMS_bytesize);
SAME(struct alloc_node_parameters, pointer, CUDA_MEM_ALLOC_NODE_PARAMS_dptr);

SAME_SIZE(struct instantiate_parameters, CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME(struct instantiate_parameters, flags, CUDA_GRAPH_INSTANTIATE_PARAMS_flags);
SAME(struct instantiate_parameters, upload_stream, CUDA_GRAPH_INSTANTIATE_PARAMS_hUploadStream);
SAME(struct instantiate_parameters, error_node, CUDA_GRAPH_INSTANTIATE_PARAMS_hErrNode_out);
SAME(struct instantiate_parameters, result, CUDA_GRAPH_INSTANTIATE_PARAMS_result_out);
