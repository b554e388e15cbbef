package io.tessera.software.texture;

import io.tessera.device.CudaLayouts.CUtensorMap;
import io.tessera.software.memory.RealMemory;
import java.util.Arrays;

/**
 * The contents of the 128 bytes of a CUtensorMap on this device: a tensor in global memory, and the box of it that one copy moves. NVIDIA does not document its
 * own layout; programs only keep the bytes and pass them back. Immutable.
 *
 * @param elementBytes   of an element
 * @param address        of the first element
 * @param sizes          elements of each dimension, from the densest on; one to five
 * @param strides        bytes from an element to the next in each dimension
 * @param box            coordinates that a copy covers in each dimension
 * @param elementSteps every how many of them one is copied
 * @param swizzle        bits of a row's number that are mixed into its place in shared memory, 0 to 3
 * @param fillsWithNan   whether what lies outside reads as NaN, else as zero
 */
public record TensorMap(int elementBytes, long address, long[] sizes, long[] strides, int[] box, int[] elementSteps,
        int swizzle, boolean fillsWithNan) {
    /** Size of a map in memory. */
    public static final int BYTES = CUtensorMap.BYTES;
    /** Most dimensions. */
    public static final int DIMENSIONS = 5;

    /** Tells our maps from other bytes. */
    private static final int MAGIC = 0x50414d54;
    private static final int RANK = 4;
    private static final int ELEMENT_BYTES = 5;
    private static final int SWIZZLE = 6;
    private static final int FILL = 7;
    private static final int ADDRESS = 8;
    private static final int SIZES = 16;
    private static final int STRIDES = 56;
    private static final int BOX = 96;
    private static final int STEPS = 106;

    /** Returns how many dimensions it has. */
    public int rank() {
        return sizes.length;
    }

    /** Elements that a copy moves in a dimension. */
    public int count(int dimension) {
        return (box[dimension] + elementSteps[dimension] - 1) / elementSteps[dimension];
    }

    /** Bytes that a copy moves. */
    public int boxBytes() {
        int bytes = elementBytes;
        for (int d = 0; d < rank(); d++) {
            bytes *= count(d);
        }
        return bytes;
    }

    /** Returns the same map over other memory. */
    public TensorMap at(long other) {
        return new TensorMap(elementBytes, other, sizes, strides, box, elementSteps, swizzle, fillsWithNan);
    }

    /** Writes the 128 bytes. */
    public void write(long to) {
        RealMemory.fill(to, BYTES, (byte) 0);
        RealMemory.putInt(to, MAGIC);
        RealMemory.putByte(to + RANK, (byte) rank());
        RealMemory.putByte(to + ELEMENT_BYTES, (byte) elementBytes);
        RealMemory.putByte(to + SWIZZLE, (byte) swizzle);
        RealMemory.putByte(to + FILL, (byte) (fillsWithNan ? 1 : 0));
        RealMemory.putLong(to + ADDRESS, address);
        for (int d = 0; d < rank(); d++) {
            RealMemory.putLong(to + SIZES + 8L * d, sizes[d]);
            RealMemory.putLong(to + STRIDES + 8L * d, strides[d]);
            RealMemory.putShort(to + BOX + 2L * d, (short) box[d]);
            RealMemory.putByte(to + STEPS + d, (byte) elementSteps[d]);
        }
    }

    /** Reads 128 bytes; null where they are no map that {@link #write} wrote. */
    public static TensorMap read(long from) {
        int rank = RealMemory.getByte(from + RANK);
        if (RealMemory.getInt(from) != MAGIC || rank < 1 || rank > DIMENSIONS) {
            return null;
        }
        long[] sizes = new long[rank];
        long[] strides = new long[rank];
        int[] box = new int[rank];
        int[] steps = new int[rank];
        for (int d = 0; d < rank; d++) {
            sizes[d] = RealMemory.getLong(from + SIZES + 8L * d);
            strides[d] = RealMemory.getLong(from + STRIDES + 8L * d);
            box[d] = RealMemory.getShort(from + BOX + 2L * d) & 0xFFFF;
            steps[d] = RealMemory.getByte(from + STEPS + d);
        }
        if (Arrays.stream(steps).anyMatch(step -> step < 1) || RealMemory.getByte(from + ELEMENT_BYTES) < 1) {
            return null;
        }
        return new TensorMap(RealMemory.getByte(from + ELEMENT_BYTES), RealMemory.getLong(from + ADDRESS), sizes, strides,
                box, steps, RealMemory.getByte(from + SWIZZLE) & 3, RealMemory.getByte(from + FILL) != 0);
    }
}
