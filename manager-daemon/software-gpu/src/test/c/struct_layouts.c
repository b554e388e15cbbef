/* Prints what cuda.h says of the structures in StructLayouts.java, a line for each constant: class, name, value. */
#include <cuda.h>
#include <stddef.h>
#include <stdio.h>

#define SIZE(class, name, type) printf(#class " " #name " %zu\n", sizeof(type))
#define AT(class, name, type, member) printf(#class " " #name " %zu\n", offsetof(type, member))
/* In the source's half, from the half's begin; the target's has to be the same. */
#define HALF(class, name, type, first, from, to)                                                                       \
    printf(#class " " #name " %zu\n",                                                                                  \
           offsetof(type, from) - offsetof(type, src##first) == offsetof(type, to) - offsetof(type, dst##first)        \
               ? offsetof(type, from) - offsetof(type, src##first)                                                     \
               : 9999)

static void copies(void)
{
    SIZE(Memcpy2D, BYTES, CUDA_MEMCPY2D);
    AT(Memcpy2D, SOURCE, CUDA_MEMCPY2D, srcXInBytes);
    AT(Memcpy2D, TARGET, CUDA_MEMCPY2D, dstXInBytes);
    HALF(Memcpy2D, X, CUDA_MEMCPY2D, XInBytes, srcXInBytes, dstXInBytes);
    HALF(Memcpy2D, Y, CUDA_MEMCPY2D, XInBytes, srcY, dstY);
    HALF(Memcpy2D, TYPE, CUDA_MEMCPY2D, XInBytes, srcMemoryType, dstMemoryType);
    HALF(Memcpy2D, HOST, CUDA_MEMCPY2D, XInBytes, srcHost, dstHost);
    HALF(Memcpy2D, DEVICE, CUDA_MEMCPY2D, XInBytes, srcDevice, dstDevice);
    HALF(Memcpy2D, ARRAY, CUDA_MEMCPY2D, XInBytes, srcArray, dstArray);
    HALF(Memcpy2D, PITCH, CUDA_MEMCPY2D, XInBytes, srcPitch, dstPitch);
    AT(Memcpy2D, WIDTH, CUDA_MEMCPY2D, WidthInBytes);
    AT(Memcpy2D, HEIGHT, CUDA_MEMCPY2D, Height);
    SIZE(Memcpy3D, BYTES, CUDA_MEMCPY3D_PEER);
    AT(Memcpy3D, SOURCE, CUDA_MEMCPY3D, srcXInBytes);
    AT(Memcpy3D, TARGET, CUDA_MEMCPY3D_PEER, dstXInBytes);
    HALF(Memcpy3D, X, CUDA_MEMCPY3D, XInBytes, srcXInBytes, dstXInBytes);
    HALF(Memcpy3D, Y, CUDA_MEMCPY3D, XInBytes, srcY, dstY);
    HALF(Memcpy3D, Z, CUDA_MEMCPY3D, XInBytes, srcZ, dstZ);
    HALF(Memcpy3D, TYPE, CUDA_MEMCPY3D_PEER, XInBytes, srcMemoryType, dstMemoryType);
    HALF(Memcpy3D, HOST, CUDA_MEMCPY3D, XInBytes, srcHost, dstHost);
    HALF(Memcpy3D, DEVICE, CUDA_MEMCPY3D, XInBytes, srcDevice, dstDevice);
    HALF(Memcpy3D, ARRAY, CUDA_MEMCPY3D, XInBytes, srcArray, dstArray);
    HALF(Memcpy3D, PITCH, CUDA_MEMCPY3D_PEER, XInBytes, srcPitch, dstPitch);
    HALF(Memcpy3D, HEIGHT, CUDA_MEMCPY3D_PEER, XInBytes, srcHeight, dstHeight);
    AT(Memcpy3D, WIDTH, CUDA_MEMCPY3D_PEER, WidthInBytes);
    AT(Memcpy3D, ROWS, CUDA_MEMCPY3D_PEER, Height);
    AT(Memcpy3D, DEPTH, CUDA_MEMCPY3D_PEER, Depth);
}

static void batch(void)
{
    SIZE(Memcpy3DBatch, BYTES, CUDA_MEMCPY3D_BATCH_OP);
    AT(Memcpy3DBatch, SOURCE, CUDA_MEMCPY3D_BATCH_OP, src);
    AT(Memcpy3DBatch, TARGET, CUDA_MEMCPY3D_BATCH_OP, dst);
    AT(Memcpy3DBatch, EXTENT, CUDA_MEMCPY3D_BATCH_OP, extent);
    AT(Memcpy3DBatch, TYPE, CUmemcpy3DOperand, type);
    AT(Memcpy3DBatch, OBJECT, CUmemcpy3DOperand, op.ptr.ptr);
    AT(Memcpy3DBatch, ROW_LENGTH, CUmemcpy3DOperand, op.ptr.rowLength);
    AT(Memcpy3DBatch, LAYER_HEIGHT, CUmemcpy3DOperand, op.ptr.layerHeight);
    AT(Memcpy3DBatch, OFFSET, CUmemcpy3DOperand, op.array.offset);
    SIZE(ArrayDescriptor, BYTES_2D, CUDA_ARRAY_DESCRIPTOR);
    SIZE(ArrayDescriptor, BYTES_3D, CUDA_ARRAY3D_DESCRIPTOR);
    AT(ArrayDescriptor, WIDTH, CUDA_ARRAY3D_DESCRIPTOR, Width);
    AT(ArrayDescriptor, HEIGHT, CUDA_ARRAY_DESCRIPTOR, Height);
    AT(ArrayDescriptor, FORMAT_2D, CUDA_ARRAY_DESCRIPTOR, Format);
    AT(ArrayDescriptor, CHANNELS_2D, CUDA_ARRAY_DESCRIPTOR, NumChannels);
    AT(ArrayDescriptor, DEPTH, CUDA_ARRAY3D_DESCRIPTOR, Depth);
    AT(ArrayDescriptor, FORMAT_3D, CUDA_ARRAY3D_DESCRIPTOR, Format);
    AT(ArrayDescriptor, CHANNELS_3D, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
    AT(ArrayDescriptor, FLAGS, CUDA_ARRAY3D_DESCRIPTOR, Flags);
}

static void nodes(void)
{
    SIZE(KernelNode, BYTES, CUDA_KERNEL_NODE_PARAMS_v2);
    SIZE(KernelNode, BYTES_V1, CUDA_KERNEL_NODE_PARAMS_v1);
    AT(KernelNode, FUNCTION, CUDA_KERNEL_NODE_PARAMS_v3, func);
    AT(KernelNode, GRID, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
    AT(KernelNode, BLOCK, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
    AT(KernelNode, SHARED, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
    AT(KernelNode, PARAMETERS, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
    AT(KernelNode, EXTRA, CUDA_KERNEL_NODE_PARAMS_v2, extra);
    AT(KernelNode, KERNEL, CUDA_KERNEL_NODE_PARAMS_v3, kern);
    AT(KernelNode, CONTEXT, CUDA_KERNEL_NODE_PARAMS_v3, ctx);
    SIZE(MemsetNode, BYTES, CUDA_MEMSET_NODE_PARAMS_v1);
    AT(MemsetNode, ADDRESS, CUDA_MEMSET_NODE_PARAMS_v2, dst);
    AT(MemsetNode, PITCH, CUDA_MEMSET_NODE_PARAMS_v2, pitch);
    AT(MemsetNode, VALUE, CUDA_MEMSET_NODE_PARAMS_v2, value);
    AT(MemsetNode, ELEMENT, CUDA_MEMSET_NODE_PARAMS_v2, elementSize);
    AT(MemsetNode, WIDTH, CUDA_MEMSET_NODE_PARAMS_v2, width);
    AT(MemsetNode, HEIGHT, CUDA_MEMSET_NODE_PARAMS_v2, height);
    SIZE(MemAllocNode, BYTES, CUDA_MEM_ALLOC_NODE_PARAMS_v2);
    AT(MemAllocNode, BYTE_SIZE, CUDA_MEM_ALLOC_NODE_PARAMS_v2, bytesize);
    AT(MemAllocNode, ADDRESS, CUDA_MEM_ALLOC_NODE_PARAMS_v2, dptr);
    SIZE(BatchMemOpNode, BYTES, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2);
    AT(BatchMemOpNode, CONTEXT, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, ctx);
    AT(BatchMemOpNode, COUNT, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, count);
    AT(BatchMemOpNode, OPERATIONS, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, paramArray);
    AT(BatchMemOpNode, FLAGS, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, flags);
    SIZE(MemOp, BYTES, CUstreamBatchMemOpParams);
    AT(MemOp, OPERATION, CUstreamBatchMemOpParams, operation);
    AT(MemOp, ADDRESS, CUstreamBatchMemOpParams, waitValue.address);
    AT(MemOp, VALUE, CUstreamBatchMemOpParams, writeValue.value64);
    AT(MemOp, FLAGS, CUstreamBatchMemOpParams, waitValue.flags);
    SIZE(NodeParams, BYTES, CUgraphNodeParams);
    AT(NodeParams, TYPE, CUgraphNodeParams, type);
    AT(NodeParams, BODY, CUgraphNodeParams, kernel);
    AT(NodeParams, MEMCPY_COPY, CUDA_MEMCPY_NODE_PARAMS, copyParams);
}

static void launches(void)
{
    SIZE(InstantiateParams, BYTES, CUDA_GRAPH_INSTANTIATE_PARAMS);
    AT(InstantiateParams, FLAGS, CUDA_GRAPH_INSTANTIATE_PARAMS, flags);
    AT(InstantiateParams, UPLOAD_STREAM, CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream);
    AT(InstantiateParams, ERROR_NODE, CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
    AT(InstantiateParams, RESULT, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
    SIZE(UpdateResult, BYTES, CUgraphExecUpdateResultInfo);
    AT(UpdateResult, RESULT, CUgraphExecUpdateResultInfo, result);
    AT(UpdateResult, ERROR_NODE, CUgraphExecUpdateResultInfo, errorNode);
    AT(UpdateResult, ERROR_FROM, CUgraphExecUpdateResultInfo, errorFromNode);
    SIZE(LaunchConfig, BYTES, CUlaunchConfig);
    AT(LaunchConfig, GRID, CUlaunchConfig, gridDimX);
    AT(LaunchConfig, BLOCK, CUlaunchConfig, blockDimX);
    AT(LaunchConfig, SHARED, CUlaunchConfig, sharedMemBytes);
    AT(LaunchConfig, STREAM, CUlaunchConfig, hStream);
    AT(LaunchConfig, ATTRIBUTES, CUlaunchConfig, attrs);
    AT(LaunchConfig, COUNT, CUlaunchConfig, numAttrs);
    SIZE(LaunchAttribute, BYTES, CUlaunchAttribute);
    AT(LaunchAttribute, ID, CUlaunchAttribute, id);
    AT(LaunchAttribute, VALUE, CUlaunchAttribute, value);
    SIZE(LaunchAttribute, VALUE_BYTES, CUlaunchAttributeValue);
}

static void properties(void)
{
    SIZE(AllocationProperties, BYTES, CUmemAllocationProp);
    AT(AllocationProperties, TYPE, CUmemAllocationProp, type);
    AT(AllocationProperties, HANDLE_TYPES, CUmemAllocationProp, requestedHandleTypes);
    AT(AllocationProperties, LOCATION, CUmemAllocationProp, location);
    SIZE(AccessDescription, BYTES, CUmemAccessDesc);
    AT(AccessDescription, LOCATION, CUmemAccessDesc, location);
    AT(AccessDescription, FLAGS, CUmemAccessDesc, flags);
    SIZE(PoolProperties, BYTES, CUmemPoolProps);
    AT(PoolProperties, ALLOC_TYPE, CUmemPoolProps, allocType);
    AT(PoolProperties, HANDLE_TYPES, CUmemPoolProps, handleTypes);
    AT(PoolProperties, LOCATION, CUmemPoolProps, location);
    AT(PoolProperties, MAX_SIZE, CUmemPoolProps, maxSize);
    SIZE(ResourceDescriptor, BYTES, CUDA_RESOURCE_DESC);
    AT(ResourceDescriptor, TYPE, CUDA_RESOURCE_DESC, resType);
    AT(ResourceDescriptor, OBJECT, CUDA_RESOURCE_DESC, res.array.hArray);
    AT(ResourceDescriptor, FORMAT, CUDA_RESOURCE_DESC, res.pitch2D.format);
    AT(ResourceDescriptor, CHANNELS, CUDA_RESOURCE_DESC, res.linear.numChannels);
    AT(ResourceDescriptor, LINEAR_BYTES, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
    AT(ResourceDescriptor, WIDTH, CUDA_RESOURCE_DESC, res.pitch2D.width);
    AT(ResourceDescriptor, HEIGHT, CUDA_RESOURCE_DESC, res.pitch2D.height);
    AT(ResourceDescriptor, PITCH, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
    AT(ResourceDescriptor, FLAGS, CUDA_RESOURCE_DESC, flags);
    SIZE(TextureDescriptor, BYTES, CUDA_TEXTURE_DESC);
    AT(TextureDescriptor, ADDRESS_MODES, CUDA_TEXTURE_DESC, addressMode);
    AT(TextureDescriptor, FILTER_MODE, CUDA_TEXTURE_DESC, filterMode);
    AT(TextureDescriptor, FLAGS, CUDA_TEXTURE_DESC, flags);
    AT(TextureDescriptor, ANISOTROPY, CUDA_TEXTURE_DESC, maxAnisotropy);
    AT(TextureDescriptor, MIPMAP_FILTER, CUDA_TEXTURE_DESC, mipmapFilterMode);
    AT(TextureDescriptor, MIPMAP_BIAS, CUDA_TEXTURE_DESC, mipmapLevelBias);
    AT(TextureDescriptor, MIPMAP_MIN, CUDA_TEXTURE_DESC, minMipmapLevelClamp);
    AT(TextureDescriptor, MIPMAP_MAX, CUDA_TEXTURE_DESC, maxMipmapLevelClamp);
    AT(TextureDescriptor, BORDER, CUDA_TEXTURE_DESC, borderColor);
    SIZE(ResourceView, BYTES, CUDA_RESOURCE_VIEW_DESC);
}

int main(void)
{
    copies();
    batch();
    nodes();
    launches();
    properties();
    return 0;
}
