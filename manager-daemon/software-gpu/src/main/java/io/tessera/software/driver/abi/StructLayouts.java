package io.tessera.software.driver.abi;

import io.tessera.device.CudaLayouts;

/**
 * Offsets and sizes, in bytes, of the structures of the interface, by what the driver uses them for. The numbers are those
 * of {@link CudaLayouts}, which is made from the driver's description.
 */
public final class StructLayouts {
    private StructLayouts() {
    }

    /** CUDA_MEMCPY2D. */
    public static final class Memcpy2D {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_MEMCPY2D.BYTES;
        /** Begin of the source's half; the target's has the same form. */
        public static final int SOURCE = CudaLayouts.CUDA_MEMCPY2D.srcXInBytes;
        /** Begin of the target's half. */
        public static final int TARGET = CudaLayouts.CUDA_MEMCPY2D.dstXInBytes;
        /** In a half: column in bytes. */
        public static final int X = CudaLayouts.CUDA_MEMCPY2D.srcXInBytes;
        /** In a half: row. */
        public static final int Y = CudaLayouts.CUDA_MEMCPY2D.srcY;
        /** In a half: CUmemorytype. */
        public static final int TYPE = CudaLayouts.CUDA_MEMCPY2D.srcMemoryType;
        /** In a half: host address. */
        public static final int HOST = CudaLayouts.CUDA_MEMCPY2D.srcHost;
        /** In a half: device address. */
        public static final int DEVICE = CudaLayouts.CUDA_MEMCPY2D.srcDevice;
        /** In a half: array. */
        public static final int ARRAY = CudaLayouts.CUDA_MEMCPY2D.srcArray;
        /** In a half: bytes of a row. */
        public static final int PITCH = CudaLayouts.CUDA_MEMCPY2D.srcPitch;
        /** Bytes to copy of each row. */
        public static final int WIDTH = CudaLayouts.CUDA_MEMCPY2D.WidthInBytes;
        /** Rows to copy. */
        public static final int HEIGHT = CudaLayouts.CUDA_MEMCPY2D.Height;

        private Memcpy2D() {
        }
    }

    /** CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which has contexts in reserved places. */
    public static final class Memcpy3D {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_MEMCPY3D_PEER.BYTES;
        /** Begin of the source's half; the target's has the same form. */
        public static final int SOURCE = CudaLayouts.CUDA_MEMCPY3D.srcXInBytes;
        /** Begin of the target's half. */
        public static final int TARGET = CudaLayouts.CUDA_MEMCPY3D_PEER.dstXInBytes;
        /** In a half: column in bytes. */
        public static final int X = CudaLayouts.CUDA_MEMCPY3D.srcXInBytes;
        /** In a half: row. */
        public static final int Y = CudaLayouts.CUDA_MEMCPY3D.srcY;
        /** In a half: slice. */
        public static final int Z = CudaLayouts.CUDA_MEMCPY3D.srcZ;
        /** In a half: CUmemorytype. */
        public static final int TYPE = CudaLayouts.CUDA_MEMCPY3D_PEER.srcMemoryType;
        /** In a half: host address. */
        public static final int HOST = CudaLayouts.CUDA_MEMCPY3D.srcHost;
        /** In a half: device address. */
        public static final int DEVICE = CudaLayouts.CUDA_MEMCPY3D.srcDevice;
        /** In a half: array. */
        public static final int ARRAY = CudaLayouts.CUDA_MEMCPY3D.srcArray;
        /** In a half: bytes of a row. */
        public static final int PITCH = CudaLayouts.CUDA_MEMCPY3D_PEER.srcPitch;
        /** In a half: rows of a slice. */
        public static final int HEIGHT = CudaLayouts.CUDA_MEMCPY3D_PEER.srcHeight;
        /** Bytes to copy of each row. */
        public static final int WIDTH = CudaLayouts.CUDA_MEMCPY3D_PEER.WidthInBytes;
        /** Rows to copy of each slice. */
        public static final int ROWS = CudaLayouts.CUDA_MEMCPY3D_PEER.Height;
        /** Slices to copy. */
        public static final int DEPTH = CudaLayouts.CUDA_MEMCPY3D_PEER.Depth;

        private Memcpy3D() {
        }
    }

    /** CUDA_MEMCPY3D_BATCH_OP, with its operands (CUmemcpy3DOperand). */
    public static final class Memcpy3DBatch {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_MEMCPY3D_BATCH_OP.BYTES;
        /** Operand read. */
        public static final int SOURCE = CudaLayouts.CUDA_MEMCPY3D_BATCH_OP.src;
        /** Operand written. */
        public static final int TARGET = CudaLayouts.CUDA_MEMCPY3D_BATCH_OP.dst;
        /** Width in elements, height, depth. */
        public static final int EXTENT = CudaLayouts.CUDA_MEMCPY3D_BATCH_OP.extent;
        /** In an operand: CUmemcpy3DOperandType. */
        public static final int TYPE = CudaLayouts.CUmemcpy3DOperand.type;
        /** In an operand: address, or array. */
        public static final int OBJECT = CudaLayouts.CUmemcpy3DOperand.op_ptr_ptr;
        /** In an operand with an address: elements of a row. */
        public static final int ROW_LENGTH = CudaLayouts.CUmemcpy3DOperand.op_ptr_rowLength;
        /** In an operand with an address: rows of a layer. */
        public static final int LAYER_HEIGHT = CudaLayouts.CUmemcpy3DOperand.op_ptr_layerHeight;
        /** In an operand with an array: column, row, slice. */
        public static final int OFFSET = CudaLayouts.CUmemcpy3DOperand.op_array_offset;

        private Memcpy3DBatch() {
        }
    }

    /** CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR. */
    public static final class ArrayDescriptor {
        /** Size of the two-dimensional form. */
        public static final int BYTES_2D = CudaLayouts.CUDA_ARRAY_DESCRIPTOR.BYTES;
        /** Size of the three-dimensional form. */
        public static final int BYTES_3D = CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR.BYTES;
        /** Elements of a row. */
        public static final int WIDTH = CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR.Width;
        /** Rows. */
        public static final int HEIGHT = CudaLayouts.CUDA_ARRAY_DESCRIPTOR.Height;
        /** Two dimensions: CUarray_format. */
        public static final int FORMAT_2D = CudaLayouts.CUDA_ARRAY_DESCRIPTOR.Format;
        /** Two dimensions: channels. */
        public static final int CHANNELS_2D = CudaLayouts.CUDA_ARRAY_DESCRIPTOR.NumChannels;
        /** Three dimensions: slices. */
        public static final int DEPTH = CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR.Depth;
        /** Three dimensions: CUarray_format. */
        public static final int FORMAT_3D = CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR.Format;
        /** Three dimensions: channels. */
        public static final int CHANNELS_3D = CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR.NumChannels;
        /** Three dimensions: flags. */
        public static final int FLAGS = CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR.Flags;

        private ArrayDescriptor() {
        }
    }

    /** CUDA_KERNEL_NODE_PARAMS; version 1 lacks the last two members. */
    public static final class KernelNode {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_KERNEL_NODE_PARAMS.BYTES;
        /** Size of version 1. */
        public static final int BYTES_V1 = CudaLayouts.CUDA_KERNEL_NODE_PARAMS_v1.BYTES;
        /** CUfunction. */
        public static final int FUNCTION = CudaLayouts.CUDA_KERNEL_NODE_PARAMS_v3.func;
        /** Three extents of the grid. */
        public static final int GRID = CudaLayouts.CUDA_KERNEL_NODE_PARAMS_v1.gridDimX;
        /** Three extents of the block. */
        public static final int BLOCK = CudaLayouts.CUDA_KERNEL_NODE_PARAMS.blockDimX;
        /** Dynamic shared memory. */
        public static final int SHARED = CudaLayouts.CUDA_KERNEL_NODE_PARAMS.sharedMemBytes;
        /** Addresses of the parameters. */
        public static final int PARAMETERS = CudaLayouts.CUDA_KERNEL_NODE_PARAMS.kernelParams;
        /** Packed parameters. */
        public static final int EXTRA = CudaLayouts.CUDA_KERNEL_NODE_PARAMS.extra;
        /** CUkernel. */
        public static final int KERNEL = CudaLayouts.CUDA_KERNEL_NODE_PARAMS_v3.kern;
        /** CUcontext. */
        public static final int CONTEXT = CudaLayouts.CUDA_KERNEL_NODE_PARAMS_v3.ctx;

        private KernelNode() {
        }
    }

    /** CUDA_MEMSET_NODE_PARAMS. */
    public static final class MemsetNode {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_MEMSET_NODE_PARAMS.BYTES;
        /** Device address. */
        public static final int ADDRESS = CudaLayouts.CUDA_MEMSET_NODE_PARAMS_v2.dst;
        /** Bytes of a row. */
        public static final int PITCH = CudaLayouts.CUDA_MEMSET_NODE_PARAMS_v2.pitch;
        /** Value. */
        public static final int VALUE = CudaLayouts.CUDA_MEMSET_NODE_PARAMS_v2.value;
        /** Bytes of an element. */
        public static final int ELEMENT = CudaLayouts.CUDA_MEMSET_NODE_PARAMS_v2.elementSize;
        /** Elements of a row. */
        public static final int WIDTH = CudaLayouts.CUDA_MEMSET_NODE_PARAMS_v2.width;
        /** Rows. */
        public static final int HEIGHT = CudaLayouts.CUDA_MEMSET_NODE_PARAMS_v2.height;

        private MemsetNode() {
        }
    }

    /** CUDA_MEM_ALLOC_NODE_PARAMS. */
    public static final class MemAllocNode {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS_v2.BYTES;
        /** Bytes to allocate. */
        public static final int BYTE_SIZE = CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS_v2.bytesize;
        /** Device address, written by the driver. */
        public static final int ADDRESS = CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS_v2.dptr;

        private MemAllocNode() {
        }
    }

    /** CUDA_BATCH_MEM_OP_NODE_PARAMS. */
    public static final class BatchMemOpNode {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2.BYTES;
        /** CUcontext. */
        public static final int CONTEXT = CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2.ctx;
        /** Number of operations. */
        public static final int COUNT = CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2.count;
        /** Address of the operations. */
        public static final int OPERATIONS = CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2.paramArray;
        /** Flags. */
        public static final int FLAGS = CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2.flags;

        private BatchMemOpNode() {
        }
    }

    /** CUstreamBatchMemOpParams. */
    public static final class MemOp {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUstreamBatchMemOpParams.BYTES;
        /** CUstreamBatchMemOpType. */
        public static final int OPERATION = CudaLayouts.CUstreamBatchMemOpParams.operation;
        /** Address of the word. */
        public static final int ADDRESS = CudaLayouts.CUstreamBatchMemOpParams.waitValue_address;
        /** Value. */
        public static final int VALUE = CudaLayouts.CUstreamBatchMemOpParams.writeValue_value64;
        /** Flags of a wait or a write. */
        public static final int FLAGS = CudaLayouts.CUstreamBatchMemOpParams.waitValue_flags;

        private MemOp() {
        }
    }

    /** CUgraphNodeParams: a type, and a structure by type. */
    public static final class NodeParams {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUgraphNodeParams.BYTES;
        /** CUgraphNodeType. */
        public static final int TYPE = CudaLayouts.CUgraphNodeParams.type;
        /** The structure. */
        public static final int BODY = CudaLayouts.CUgraphNodeParams.kernel;
        /** In a copy's structure: CUDA_MEMCPY3D. */
        public static final int MEMCPY_COPY = CudaLayouts.CUDA_MEMCPY_NODE_PARAMS.copyParams;

        private NodeParams() {
        }
    }

    /** CUDA_GRAPH_INSTANTIATE_PARAMS. */
    public static final class InstantiateParams {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_GRAPH_INSTANTIATE_PARAMS.BYTES;
        /** Flags. */
        public static final int FLAGS = CudaLayouts.CUDA_GRAPH_INSTANTIATE_PARAMS.flags;
        /** Stream for the upload. */
        public static final int UPLOAD_STREAM = CudaLayouts.CUDA_GRAPH_INSTANTIATE_PARAMS.hUploadStream;
        /** Node that was refused. */
        public static final int ERROR_NODE = CudaLayouts.CUDA_GRAPH_INSTANTIATE_PARAMS.hErrNode_out;
        /** CUgraphInstantiateResult. */
        public static final int RESULT = CudaLayouts.CUDA_GRAPH_INSTANTIATE_PARAMS.result_out;

        private InstantiateParams() {
        }
    }

    /** CUgraphExecUpdateResultInfo. */
    public static final class UpdateResult {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUgraphExecUpdateResultInfo.BYTES;
        /** CUgraphExecUpdateResult. */
        public static final int RESULT = CudaLayouts.CUgraphExecUpdateResultInfo.result;
        /** Node that does not fit. */
        public static final int ERROR_NODE = CudaLayouts.CUgraphExecUpdateResultInfo.errorNode;
        /** Origin of the edge. */
        public static final int ERROR_FROM = CudaLayouts.CUgraphExecUpdateResultInfo.errorFromNode;

        private UpdateResult() {
        }
    }

    /** CUlaunchConfig. */
    public static final class LaunchConfig {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUlaunchConfig.BYTES;
        /** Three extents of the grid. */
        public static final int GRID = CudaLayouts.CUlaunchConfig.gridDimX;
        /** Three extents of the block. */
        public static final int BLOCK = CudaLayouts.CUlaunchConfig.blockDimX;
        /** Dynamic shared memory. */
        public static final int SHARED = CudaLayouts.CUlaunchConfig.sharedMemBytes;
        /** Stream. */
        public static final int STREAM = CudaLayouts.CUlaunchConfig.hStream;
        /** Address of the attributes. */
        public static final int ATTRIBUTES = CudaLayouts.CUlaunchConfig.attrs;
        /** Number of attributes. */
        public static final int COUNT = CudaLayouts.CUlaunchConfig.numAttrs;

        private LaunchConfig() {
        }
    }

    /** CUlaunchAttribute. */
    public static final class LaunchAttribute {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUlaunchAttribute.BYTES;
        /** CUlaunchAttributeID. */
        public static final int ID = CudaLayouts.CUlaunchAttribute.id;
        /** The value. */
        public static final int VALUE = CudaLayouts.CUlaunchAttribute.value;
        /** Size of the value. */
        public static final int VALUE_BYTES = CudaLayouts.CUlaunchAttributeValue.BYTES;

        private LaunchAttribute() {
        }
    }

    /** CUmemAllocationProp. */
    public static final class AllocationProperties {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUmemAllocationProp.BYTES;
        /** CUmemAllocationType. */
        public static final int TYPE = CudaLayouts.CUmemAllocationProp.type;
        /** CUmemAllocationHandleType. */
        public static final int HANDLE_TYPES = CudaLayouts.CUmemAllocationProp.requestedHandleTypes;
        /** CUmemLocation. */
        public static final int LOCATION = CudaLayouts.CUmemAllocationProp.location;

        private AllocationProperties() {
        }
    }

    /** CUmemAccessDesc. */
    public static final class AccessDescription {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUmemAccessDesc.BYTES;
        /** CUmemLocation. */
        public static final int LOCATION = CudaLayouts.CUmemAccessDesc.location;
        /** CUmemAccess_flags. */
        public static final int FLAGS = CudaLayouts.CUmemAccessDesc.flags;

        private AccessDescription() {
        }
    }

    /** CUmemPoolProps. */
    public static final class PoolProperties {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUmemPoolProps.BYTES;
        /** CUmemAllocationType. */
        public static final int ALLOC_TYPE = CudaLayouts.CUmemPoolProps.allocType;
        /** CUmemAllocationHandleType. */
        public static final int HANDLE_TYPES = CudaLayouts.CUmemPoolProps.handleTypes;
        /** CUmemLocation. */
        public static final int LOCATION = CudaLayouts.CUmemPoolProps.location;
        /** Most bytes. */
        public static final int MAX_SIZE = CudaLayouts.CUmemPoolProps.maxSize;

        private PoolProperties() {
        }
    }

    /** CUDA_RESOURCE_DESC. */
    public static final class ResourceDescriptor {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_RESOURCE_DESC.BYTES;
        /** CUresourcetype. */
        public static final int TYPE = CudaLayouts.CUDA_RESOURCE_DESC.resType;
        /** Array, mipmapped array, or device address. */
        public static final int OBJECT = CudaLayouts.CUDA_RESOURCE_DESC.res_array_hArray;
        /** Linear and pitched memory: CUarray_format. */
        public static final int FORMAT = CudaLayouts.CUDA_RESOURCE_DESC.res_pitch2D_format;
        /** Linear and pitched memory: channels. */
        public static final int CHANNELS = CudaLayouts.CUDA_RESOURCE_DESC.res_linear_numChannels;
        /** Linear memory: bytes. */
        public static final int LINEAR_BYTES = CudaLayouts.CUDA_RESOURCE_DESC.res_linear_sizeInBytes;
        /** Pitched memory: elements of a row. */
        public static final int WIDTH = CudaLayouts.CUDA_RESOURCE_DESC.res_pitch2D_width;
        /** Pitched memory: rows. */
        public static final int HEIGHT = CudaLayouts.CUDA_RESOURCE_DESC.res_pitch2D_height;
        /** Pitched memory: bytes of a row. */
        public static final int PITCH = CudaLayouts.CUDA_RESOURCE_DESC.res_pitch2D_pitchInBytes;
        /** Flags. */
        public static final int FLAGS = CudaLayouts.CUDA_RESOURCE_DESC.flags;

        private ResourceDescriptor() {
        }
    }

    /** CUDA_TEXTURE_DESC. */
    public static final class TextureDescriptor {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_TEXTURE_DESC.BYTES;
        /** Three CUaddress_mode. */
        public static final int ADDRESS_MODES = CudaLayouts.CUDA_TEXTURE_DESC.addressMode;
        /** CUfilter_mode. */
        public static final int FILTER_MODE = CudaLayouts.CUDA_TEXTURE_DESC.filterMode;
        /** CU_TRSF flags. */
        public static final int FLAGS = CudaLayouts.CUDA_TEXTURE_DESC.flags;
        /** Anisotropy. */
        public static final int ANISOTROPY = CudaLayouts.CUDA_TEXTURE_DESC.maxAnisotropy;
        /** CUfilter_mode between levels. */
        public static final int MIPMAP_FILTER = CudaLayouts.CUDA_TEXTURE_DESC.mipmapFilterMode;
        /** Offset of the level. */
        public static final int MIPMAP_BIAS = CudaLayouts.CUDA_TEXTURE_DESC.mipmapLevelBias;
        /** Lowest level. */
        public static final int MIPMAP_MIN = CudaLayouts.CUDA_TEXTURE_DESC.minMipmapLevelClamp;
        /** Highest level. */
        public static final int MIPMAP_MAX = CudaLayouts.CUDA_TEXTURE_DESC.maxMipmapLevelClamp;
        /** Four channels of the border. */
        public static final int BORDER = CudaLayouts.CUDA_TEXTURE_DESC.borderColor;

        private TextureDescriptor() {
        }
    }

    /** CUDA_RESOURCE_VIEW_DESC. */
    public static final class ResourceView {
        /** Size. */
        public static final int BYTES = CudaLayouts.CUDA_RESOURCE_VIEW_DESC.BYTES;

        private ResourceView() {
        }
    }
}
