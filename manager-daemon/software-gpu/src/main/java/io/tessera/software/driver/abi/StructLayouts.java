package io.tessera.software.driver.abi;

/**
 * Offsets and sizes, in bytes, of the structures of the interface as cuda.h 13.0 lays them out on 64-bit Linux. A test
 * compares them with an installed header.
 */
public final class StructLayouts {
    private StructLayouts() {
    }

    /** CUDA_MEMCPY2D. */
    public static final class Memcpy2D {
        /** Size. */
        public static final int BYTES = 128;
        /** Begin of the source's half; the target's has the same form. */
        public static final int SOURCE = 0;
        /** Begin of the target's half. */
        public static final int TARGET = 56;
        /** In a half: column in bytes. */
        public static final int X = 0;
        /** In a half: row. */
        public static final int Y = 8;
        /** In a half: CUmemorytype. */
        public static final int TYPE = 16;
        /** In a half: host address. */
        public static final int HOST = 24;
        /** In a half: device address. */
        public static final int DEVICE = 32;
        /** In a half: array. */
        public static final int ARRAY = 40;
        /** In a half: bytes of a row. */
        public static final int PITCH = 48;
        /** Bytes to copy of each row. */
        public static final int WIDTH = 112;
        /** Rows to copy. */
        public static final int HEIGHT = 120;

        private Memcpy2D() {
        }
    }

    /** CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which has contexts in reserved places. */
    public static final class Memcpy3D {
        /** Size. */
        public static final int BYTES = 200;
        /** Begin of the source's half; the target's has the same form. */
        public static final int SOURCE = 0;
        /** Begin of the target's half. */
        public static final int TARGET = 88;
        /** In a half: column in bytes. */
        public static final int X = 0;
        /** In a half: row. */
        public static final int Y = 8;
        /** In a half: slice. */
        public static final int Z = 16;
        /** In a half: CUmemorytype. */
        public static final int TYPE = 32;
        /** In a half: host address. */
        public static final int HOST = 40;
        /** In a half: device address. */
        public static final int DEVICE = 48;
        /** In a half: array. */
        public static final int ARRAY = 56;
        /** In a half: bytes of a row. */
        public static final int PITCH = 72;
        /** In a half: rows of a slice. */
        public static final int HEIGHT = 80;
        /** Bytes to copy of each row. */
        public static final int WIDTH = 176;
        /** Rows to copy of each slice. */
        public static final int ROWS = 184;
        /** Slices to copy. */
        public static final int DEPTH = 192;

        private Memcpy3D() {
        }
    }

    /** CUDA_MEMCPY3D_BATCH_OP, with its operands (CUmemcpy3DOperand). */
    public static final class Memcpy3DBatch {
        /** Size. */
        public static final int BYTES = 112;
        /** Operand read. */
        public static final int SOURCE = 0;
        /** Operand written. */
        public static final int TARGET = 40;
        /** Width in elements, height, depth. */
        public static final int EXTENT = 80;
        /** In an operand: CUmemcpy3DOperandType. */
        public static final int TYPE = 0;
        /** In an operand: address, or array. */
        public static final int OBJECT = 8;
        /** In an operand with an address: elements of a row. */
        public static final int ROW_LENGTH = 16;
        /** In an operand with an address: rows of a layer. */
        public static final int LAYER_HEIGHT = 24;
        /** In an operand with an array: column, row, slice. */
        public static final int OFFSET = 16;

        private Memcpy3DBatch() {
        }
    }

    /** CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR. */
    public static final class ArrayDescriptor {
        /** Size of the two-dimensional form. */
        public static final int BYTES_2D = 24;
        /** Size of the three-dimensional form. */
        public static final int BYTES_3D = 40;
        /** Elements of a row. */
        public static final int WIDTH = 0;
        /** Rows. */
        public static final int HEIGHT = 8;
        /** Two dimensions: CUarray_format. */
        public static final int FORMAT_2D = 16;
        /** Two dimensions: channels. */
        public static final int CHANNELS_2D = 20;
        /** Three dimensions: slices. */
        public static final int DEPTH = 16;
        /** Three dimensions: CUarray_format. */
        public static final int FORMAT_3D = 24;
        /** Three dimensions: channels. */
        public static final int CHANNELS_3D = 28;
        /** Three dimensions: flags. */
        public static final int FLAGS = 32;

        private ArrayDescriptor() {
        }
    }

    /** CUDA_KERNEL_NODE_PARAMS; version 1 lacks the last two members. */
    public static final class KernelNode {
        /** Size. */
        public static final int BYTES = 72;
        /** Size of version 1. */
        public static final int BYTES_V1 = 56;
        /** CUfunction. */
        public static final int FUNCTION = 0;
        /** Three extents of the grid. */
        public static final int GRID = 8;
        /** Three extents of the block. */
        public static final int BLOCK = 20;
        /** Dynamic shared memory. */
        public static final int SHARED = 32;
        /** Addresses of the parameters. */
        public static final int PARAMETERS = 40;
        /** Packed parameters. */
        public static final int EXTRA = 48;
        /** CUkernel. */
        public static final int KERNEL = 56;
        /** CUcontext. */
        public static final int CONTEXT = 64;

        private KernelNode() {
        }
    }

    /** CUDA_MEMSET_NODE_PARAMS. */
    public static final class MemsetNode {
        /** Size. */
        public static final int BYTES = 40;
        /** Device address. */
        public static final int ADDRESS = 0;
        /** Bytes of a row. */
        public static final int PITCH = 8;
        /** Value. */
        public static final int VALUE = 16;
        /** Bytes of an element. */
        public static final int ELEMENT = 20;
        /** Elements of a row. */
        public static final int WIDTH = 24;
        /** Rows. */
        public static final int HEIGHT = 32;

        private MemsetNode() {
        }
    }

    /** CUDA_MEM_ALLOC_NODE_PARAMS. */
    public static final class MemAllocNode {
        /** Size. */
        public static final int BYTES = 120;
        /** Bytes to allocate. */
        public static final int BYTE_SIZE = 104;
        /** Device address, written by the driver. */
        public static final int ADDRESS = 112;

        private MemAllocNode() {
        }
    }

    /** CUDA_BATCH_MEM_OP_NODE_PARAMS. */
    public static final class BatchMemOpNode {
        /** Size. */
        public static final int BYTES = 32;
        /** CUcontext. */
        public static final int CONTEXT = 0;
        /** How many operations. */
        public static final int COUNT = 8;
        /** Address of the operations. */
        public static final int OPERATIONS = 16;
        /** Flags. */
        public static final int FLAGS = 24;

        private BatchMemOpNode() {
        }
    }

    /** CUstreamBatchMemOpParams. */
    public static final class MemOp {
        /** Size. */
        public static final int BYTES = 48;
        /** CUstreamBatchMemOpType. */
        public static final int OPERATION = 0;
        /** Address of the word. */
        public static final int ADDRESS = 8;
        /** Value. */
        public static final int VALUE = 16;
        /** Flags of a wait or a write. */
        public static final int FLAGS = 24;

        private MemOp() {
        }
    }

    /** CUgraphNodeParams: a type, and a structure by type. */
    public static final class NodeParams {
        /** Size. */
        public static final int BYTES = 256;
        /** CUgraphNodeType. */
        public static final int TYPE = 0;
        /** The structure. */
        public static final int BODY = 16;
        /** In a copy's structure: CUDA_MEMCPY3D. */
        public static final int MEMCPY_COPY = 16;

        private NodeParams() {
        }
    }

    /** CUDA_GRAPH_INSTANTIATE_PARAMS. */
    public static final class InstantiateParams {
        /** Size. */
        public static final int BYTES = 32;
        /** Flags. */
        public static final int FLAGS = 0;
        /** Stream for the upload. */
        public static final int UPLOAD_STREAM = 8;
        /** Node that was refused. */
        public static final int ERROR_NODE = 16;
        /** CUgraphInstantiateResult. */
        public static final int RESULT = 24;

        private InstantiateParams() {
        }
    }

    /** CUgraphExecUpdateResultInfo. */
    public static final class UpdateResult {
        /** Size. */
        public static final int BYTES = 24;
        /** CUgraphExecUpdateResult. */
        public static final int RESULT = 0;
        /** Node that does not fit. */
        public static final int ERROR_NODE = 8;
        /** What its edge comes from. */
        public static final int ERROR_FROM = 16;

        private UpdateResult() {
        }
    }

    /** CUlaunchConfig. */
    public static final class LaunchConfig {
        /** Size. */
        public static final int BYTES = 56;
        /** Three extents of the grid. */
        public static final int GRID = 0;
        /** Three extents of the block. */
        public static final int BLOCK = 12;
        /** Dynamic shared memory. */
        public static final int SHARED = 24;
        /** Stream. */
        public static final int STREAM = 32;
        /** Address of the attributes. */
        public static final int ATTRIBUTES = 40;
        /** How many attributes. */
        public static final int COUNT = 48;

        private LaunchConfig() {
        }
    }

    /** CUlaunchAttribute. */
    public static final class LaunchAttribute {
        /** Size. */
        public static final int BYTES = 72;
        /** CUlaunchAttributeID. */
        public static final int ID = 0;
        /** The value. */
        public static final int VALUE = 8;
        /** Size of the value. */
        public static final int VALUE_BYTES = 64;

        private LaunchAttribute() {
        }
    }

    /** CUmemAllocationProp. */
    public static final class AllocationProperties {
        /** Size. */
        public static final int BYTES = 32;
        /** CUmemAllocationType. */
        public static final int TYPE = 0;
        /** CUmemAllocationHandleType. */
        public static final int HANDLE_TYPES = 4;
        /** CUmemLocation. */
        public static final int LOCATION = 8;

        private AllocationProperties() {
        }
    }

    /** CUmemAccessDesc. */
    public static final class AccessDescription {
        /** Size. */
        public static final int BYTES = 12;
        /** CUmemLocation. */
        public static final int LOCATION = 0;
        /** CUmemAccess_flags. */
        public static final int FLAGS = 8;

        private AccessDescription() {
        }
    }

    /** CUmemPoolProps. */
    public static final class PoolProperties {
        /** Size. */
        public static final int BYTES = 88;
        /** CUmemAllocationType. */
        public static final int ALLOC_TYPE = 0;
        /** CUmemAllocationHandleType. */
        public static final int HANDLE_TYPES = 4;
        /** CUmemLocation. */
        public static final int LOCATION = 8;
        /** Most bytes. */
        public static final int MAX_SIZE = 24;

        private PoolProperties() {
        }
    }

    /** CUDA_RESOURCE_DESC. */
    public static final class ResourceDescriptor {
        /** Size. */
        public static final int BYTES = 144;
        /** CUresourcetype. */
        public static final int TYPE = 0;
        /** Array, mipmapped array, or device address. */
        public static final int OBJECT = 8;
        /** Linear and pitched memory: CUarray_format. */
        public static final int FORMAT = 16;
        /** Linear and pitched memory: channels. */
        public static final int CHANNELS = 20;
        /** Linear memory: bytes. */
        public static final int LINEAR_BYTES = 24;
        /** Pitched memory: elements of a row. */
        public static final int WIDTH = 24;
        /** Pitched memory: rows. */
        public static final int HEIGHT = 32;
        /** Pitched memory: bytes of a row. */
        public static final int PITCH = 40;
        /** Flags. */
        public static final int FLAGS = 136;

        private ResourceDescriptor() {
        }
    }

    /** CUDA_TEXTURE_DESC. */
    public static final class TextureDescriptor {
        /** Size. */
        public static final int BYTES = 104;
        /** Three CUaddress_mode. */
        public static final int ADDRESS_MODES = 0;
        /** CUfilter_mode. */
        public static final int FILTER_MODE = 12;
        /** CU_TRSF flags. */
        public static final int FLAGS = 16;
        /** Anisotropy. */
        public static final int ANISOTROPY = 20;
        /** CUfilter_mode between levels. */
        public static final int MIPMAP_FILTER = 24;
        /** Offset of the level. */
        public static final int MIPMAP_BIAS = 28;
        /** Lowest level. */
        public static final int MIPMAP_MIN = 32;
        /** Highest level. */
        public static final int MIPMAP_MAX = 36;
        /** Four channels of the border. */
        public static final int BORDER = 40;

        private TextureDescriptor() {
        }
    }

    /** CUDA_RESOURCE_VIEW_DESC. */
    public static final class ResourceView {
        /** Size. */
        public static final int BYTES = 112;

        private ResourceView() {
        }
    }
}
