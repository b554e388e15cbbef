package io.tessera.executor.call.graph;

import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.MovedBytes;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * The device time of a node that copies or sets memory, by its structure, which nobody has checked yet: an invalid one counts nothing and
 * is refused later. One owner thread.
 */
final class NodeMoves {
    /** No memory is larger, and products of what is not larger are no numbers of bytes. */
    private static final long MOST_BYTES = 1L << 48;
    /** {@code CUDA_MEMCPY3D}: begins of both sides; in a side type, host address and device address; width, height, depth. */
    private static final int[] SIDES = {0, 88};
    private static final int TYPE = 32;
    private static final int HOST_ADDRESS = 40;
    private static final int DEVICE_ADDRESS = 48;
    private static final int WIDTH = 176;
    private static final int COPY_BYTES = 200;
    private static final int HOST_TYPE = 1;
    private static final int ARRAY_TYPE = 3;
    /** {@code CUDA_MEMSET_NODE_PARAMS}: destination, then element size, width, height. */
    private static final int ELEMENT = 20;
    private static final int MEMSET_BYTES = 40;

    private final MovedBytes moved;

    /** The bytes that a node moves, and their places in its structure. */
    enum Content {
        /** Nothing. */
        NOTHING,
        /** {@code CUDA_MEMCPY3D}. */
        COPY,
        /** {@code CUDA_MEMSET_NODE_PARAMS}. */
        MEMSET,
        /** {@code CUgraphNodeParams}: its type says it. */
        ANY
    }

    /** For one client. */
    NodeMoves(MovedBytes moved) {
        this.moved = moved;
    }

    /** Nanoseconds; 0 for nodes that move nothing. */
    long ns(CallFrame frame, Content content) {
        MemorySegment structure = content == Content.NOTHING ? null : structure(frame);
        if (structure == null) {
            return 0;
        }
        return switch (content) {
            case NOTHING -> 0;
            case COPY -> copy(structure);
            case MEMSET -> memset(structure);
            case ANY -> structure.byteSize() < NodeStructures.ANY_BYTES ? 0 : any(structure);
        };
    }

    private long any(MemorySegment structure) {
        return switch (structure.get(WireTypes.U32, 0)) {
            case NodeStructures.COPY -> copy(structure.asSlice(NodeStructures.COPY_BODY));
            case NodeStructures.MEMSET -> memset(structure.asSlice(NodeStructures.BODY));
            default -> 0;
        };
    }

    private static MemorySegment structure(CallFrame frame) {
        int i = frame.lastPointer();
        return i < 0 || frame.data(i) == null ? null : frame.data(i).asSlice(0, frame.inBytes(i));
    }

    private long copy(MemorySegment copy) {
        if (copy.byteSize() < COPY_BYTES) {
            return 0;
        }
        long rows = product(copy.get(WireTypes.U64, WIDTH + 8), copy.get(WireTypes.U64, WIDTH + 16));
        long bytes = product(copy.get(WireTypes.U64, WIDTH), rows);
        long ns = bytes == 0 ? 0 : moved.time().ns(0, 0, 2 * rows);
        for (int side : SIDES) {
            int type = copy.get(WireTypes.U32, side + TYPE);
            boolean ofHost = type == HOST_TYPE ? moved.isPinned(copy.get(WireTypes.U64, side + HOST_ADDRESS))
                    : type != ARRAY_TYPE && moved.isPinned(copy.get(WireTypes.U64, side + DEVICE_ADDRESS));
            ns += ofHost ? moved.time().ns(0, bytes, 0) : moved.time().ns(bytes, 0, 0);
        }
        return ns;
    }

    private long memset(MemorySegment node) {
        if (node.byteSize() < MEMSET_BYTES) {
            return 0;
        }
        long rows = node.get(WireTypes.U64, ELEMENT + 12);
        long bytes = product(Integer.toUnsignedLong(node.get(WireTypes.U32, ELEMENT)), product(node.get(WireTypes.U64, ELEMENT + 4), rows));
        return bytes == 0 ? 0 : moved.isPinned(node.get(WireTypes.U64, 0)) ? moved.time().ns(0, bytes, rows) : moved.time().ns(bytes, 0, rows);
    }

    private static long product(long first, long second) {
        boolean sane = first >= 0 && first <= MOST_BYTES && second >= 0 && second <= MOST_BYTES;
        return sane && Math.multiplyHigh(first, second) == 0 && first * second >= 0 && first * second <= MOST_BYTES ? first * second : 0;
    }
}
