package io.tessera.guardian.machine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Tensor maps as sm_90 reads them. Of the 128 bytes of a {@code CUtensorMap} its hardware reads the first 64, and libraries that fill in maps
 * themselves keep only these. The positions of the fields were derived from 1,062 maps that {@code cuTensorMapEncodeTiled} and {@code
 * cuTensorMapEncodeIm2col} made from random parameters on an H100 (driver 580.159.04); the layout explains every bit of all of them. Maps that cuBLAS
 * and cuDNN fill in have bit 1 of the kind set besides; 96,000 copies by random maps with it and without it read the same, and nothing outside of
 * their tensor. Stateless.
 *
 * <p>By word of 32 bits: 0 and 1 the address; 2 what kind of map; 3 to 6 the strides of dimensions 1 to 4 in 16 bytes, and 7 four more bits of each;
 * 8 to 12 the sizes of the dimensions minus one; 13 to 15 the box of one copy, which does not lead beyond the sizes.
 */
public final class HardwareTensorMap {
    /** Bytes that the hardware reads. */
    public static final int BYTES = 64;
    /** Result of {@link #reach} for bytes that are not a map, or an unknown one. */
    public static final long UNKNOWN = -1;
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong ADDRESS = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int DIMENSIONS = 5;
    private static final int KIND = 8;
    private static final int STRIDES = 12;
    private static final int HIGH_STRIDES = 28;
    private static final int SIZES = 32;
    private static final int BOX = 52;
    private static final int PIXELS = 60;
    /** Bits of the kind that no map has, and that of interleaved channels, whose order in memory is another one. */
    private static final int UNKNOWN_KIND = 0xfff8180c;
    private static final int UNKNOWN_BOX = 0x00ff8000;
    private static final int UNKNOWN_PIXELS = 0xfffffc00;
    /**
     * Size in bytes of each element type, by its number (bits 7 to 10 of the kind). Packed types of four and six bits follow; they are not supported.
     */
    private static final int[] ELEMENT_BYTES = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2};
    /** Larger than the window of any tenant. */
    private static final long MOST_BYTES = 1L << 50;

    private HardwareTensorMap() {
    }

    /**
     * Returns how many bytes from its address a copy by a map may reach.
     *
     * @param at offset of the map in the memory, in bytes; all of the map lies inside
     * @return {@link #UNKNOWN} if the map is not supported, or larger than any memory
     */
    public static long reach(MemorySegment memory, long at) {
        int kind = memory.get(WORD, at + KIND);
        int rank = (kind >>> 4 & 7) + 1;
        int type = kind >>> 7 & 0xf;
        int high = memory.get(WORD, at + HIGH_STRIDES);
        if ((kind & UNKNOWN_KIND) != 0 || rank > DIMENSIONS || type >= ELEMENT_BYTES.length || high >>> 16 != 0
                || (memory.get(WORD, at + BOX) & UNKNOWN_BOX) != 0 || (memory.get(WORD, at + PIXELS) & UNKNOWN_PIXELS) != 0) {
            return UNKNOWN;
        }
        long bytes = (size(memory, at, 0) + 1) * ELEMENT_BYTES[type];
        for (int i = 1; i < DIMENSIONS; i++) {
            long stride = (Integer.toUnsignedLong(memory.get(WORD, at + STRIDES + (i - 1L) * Integer.BYTES))
                    | (high >>> 4 * (i - 1) & 0xfL) << 32) << 4;
            long last = size(memory, at, i);
            if (stride != 0 && last > MOST_BYTES / stride) {
                return UNKNOWN;
            }
            bytes += last * stride;
        }
        return bytes > MOST_BYTES ? UNKNOWN : bytes;
    }

    /** The number of the last element in a dimension. */
    private static long size(MemorySegment memory, long at, int dimension) {
        return Integer.toUnsignedLong(memory.get(WORD, at + SIZES + (long) dimension * Integer.BYTES));
    }

    /** The address of a map. */
    public static long address(MemorySegment memory, long at) {
        return memory.get(ADDRESS, at);
    }

    /** Has a map begin elsewhere. */
    public static void setAddress(MemorySegment memory, long at, long address) {
        memory.set(ADDRESS, at, address);
    }
}
