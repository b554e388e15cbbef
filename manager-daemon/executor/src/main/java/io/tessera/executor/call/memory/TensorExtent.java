package io.tessera.executor.call.memory;

import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.RejectedException;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Number of bytes, from its address on, that a kernel may reach through a tensor map: the hardware checks the tensor's sizes, so accesses stay inside them.
 * Parameters of the three encoders (cuda.h): map, type of elements, rank, address, sizes, strides in bytes of all dimensions but the first. Stateless.
 */
final class TensorExtent {
    private static final int TYPE = 1;
    private static final int RANK = 2;
    private static final int SIZES = 4;
    private static final int STRIDES = 5;
    private static final int MOST_DIMENSIONS = 5;
    /** By {@code CUtensorMapDataType}: bits of an element in memory. Packed elements have no gaps. */
    private static final int[] BITS = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};

    private TensorExtent() {
    }

    static long ofCall(CallFrame frame, int parameter) throws RejectedException {
        long type = frame.slot(TYPE);
        long rank = frame.slot(RANK);
        if (type < 0 || type >= BITS.length || rank < 1 || rank > MOST_DIMENSIONS) {
            throw CallFrame.malformed("a tensor of type " + type + " and rank " + rank);
        }
        MemorySegment sizes = frame.required(SIZES);
        long bytes = (product(size(sizes, 0), BITS[(int) type]) + 7) / 8;
        for (int i = 1; i < rank; i++) {
            long stride = frame.required(STRIDES).get(WireTypes.U64, (i - 1L) * Long.BYTES);
            bytes = sum(bytes, product(size(sizes, i) - 1, stride));
        }
        return bytes;
    }

    private static long size(MemorySegment sizes, int dimension) throws RejectedException {
        long size = sizes.get(WireTypes.U64, (long) dimension * Long.BYTES);
        if (size < 1 || size > 1L << 32) {
            throw CallFrame.malformed("a tensor of size " + Long.toUnsignedString(size));
        }
        return size;
    }

    private static long product(long left, long right) throws RejectedException {
        if (right < 0 || right != 0 && left > (1L << 60) / right) {
            throw CallFrame.malformed("a tensor beyond all memory");
        }
        return left * right;
    }

    private static long sum(long left, long right) throws RejectedException {
        if (left > (1L << 61) - right) {
            throw CallFrame.malformed("a tensor beyond all memory");
        }
        return left + right;
    }
}
