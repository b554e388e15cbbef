package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaLayouts.CUDA_MEMCPY3D;
import io.tessera.device.CudaLayouts.CUDA_MEMSET_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUgraphNodeParams;
import io.tessera.device.MemoryType;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.MovedBytes;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Estimates the device time of a node that copies or sets memory, from its structure. The structure is not checked yet: an invalid one counts as nothing, and
 * is refused later. One owner thread.
 */
final class NodeMoves {
    /** Bound on sizes: no memory is larger, and larger products are not valid numbers of bytes. */
    private static final long MOST_BYTES = 1L << 48;
    /** Offsets of both sides in {@code CUDA_MEMCPY3D}; the members of the first one have the same offsets in the second. */
    private static final int[] SIDES = {CUDA_MEMCPY3D.srcXInBytes, CUDA_MEMCPY3D.dstXInBytes};

    private final MovedBytes moved;

    /** The bytes that a node moves, and their places in its structure. */
    enum Content {
        /** No copy or memset. */
        NOTHING,
        /** {@code CUDA_MEMCPY3D}. */
        COPY,
        /** {@code CUDA_MEMSET_NODE_PARAMS}. */
        MEMSET,
        /** {@code CUgraphNodeParams}, which contains its type. */
        ANY
    }

    /** Creates an instance for one client. */
    NodeMoves(MovedBytes moved) {
        this.moved = moved;
    }

    /** Returns nanoseconds; 0 for nodes that move nothing. */
    long ns(CallFrame frame, Content content) {
        MemorySegment structure = content == Content.NOTHING ? null : structure(frame);
        if (structure == null) {
            return 0;
        }
        return switch (content) {
            case NOTHING -> 0;
            case COPY -> copy(structure);
            case MEMSET -> memset(structure);
            case ANY -> structure.byteSize() < CUgraphNodeParams.BYTES ? 0 : any(structure);
        };
    }

    private long any(MemorySegment structure) {
        return switch (structure.get(WireTypes.U32, CUgraphNodeParams.type)) {
            case GraphNodeType.MEMCPY -> copy(structure.asSlice(NodeStructures.COPY_BODY));
            case GraphNodeType.MEMSET -> memset(structure.asSlice(NodeStructures.BODY));
            default -> 0;
        };
    }

    private static MemorySegment structure(CallFrame frame) {
        int i = frame.lastPointer();
        return i < 0 || frame.data(i) == null ? null : frame.data(i).asSlice(0, frame.inBytes(i));
    }

    private long copy(MemorySegment copy) {
        if (copy.byteSize() < CUDA_MEMCPY3D.BYTES) {
            return 0;
        }
        long rows = product(copy.get(WireTypes.U64, CUDA_MEMCPY3D.Height), copy.get(WireTypes.U64, CUDA_MEMCPY3D.Depth));
        long bytes = product(copy.get(WireTypes.U64, CUDA_MEMCPY3D.WidthInBytes), rows);
        long ns = bytes == 0 ? 0 : moved.time().ns(0, 0, 2 * rows);
        for (int side : SIDES) {
            int type = copy.get(WireTypes.U32, side + CUDA_MEMCPY3D.srcMemoryType);
            boolean ofHost = type == MemoryType.HOST ? moved.isPinned(copy.get(WireTypes.U64, side + CUDA_MEMCPY3D.srcHost))
                    : type != MemoryType.ARRAY && moved.isPinned(copy.get(WireTypes.U64, side + CUDA_MEMCPY3D.srcDevice));
            ns += ofHost ? moved.time().ns(0, bytes, 0) : moved.time().ns(bytes, 0, 0);
        }
        return ns;
    }

    private long memset(MemorySegment node) {
        if (node.byteSize() < CUDA_MEMSET_NODE_PARAMS.BYTES) {
            return 0;
        }
        long rows = node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.height);
        long bytes = product(Integer.toUnsignedLong(node.get(WireTypes.U32, CUDA_MEMSET_NODE_PARAMS.elementSize)),
                product(node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.width), rows));
        return bytes == 0 ? 0 : moved.isPinned(node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.dst)) ? moved.time().ns(0, bytes, rows)
                : moved.time().ns(bytes, 0, rows);
    }

    private static long product(long first, long second) {
        boolean sane = first >= 0 && first <= MOST_BYTES && second >= 0 && second <= MOST_BYTES;
        return sane && Math.multiplyHigh(first, second) == 0 && first * second >= 0 && first * second <= MOST_BYTES ? first * second : 0;
    }
}
