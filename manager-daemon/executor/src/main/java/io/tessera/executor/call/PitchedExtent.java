package io.tessera.executor.call;

import io.tessera.device.CudaResult;

/**
 * Extent of a box of rows in linear memory (cuda.h, {@code CUDA_MEMCPY3D}). All numbers are unsigned, as the driver reads them: a stride that a signed
 * comparison takes for small may lead anywhere. Stateless.
 */
final class PitchedExtent {
    /** No device or host address has more bits, so a larger stride or coordinate is invalid. */
    private static final long MOST = 1L << 48;

    private PitchedExtent() {
    }

    /**
     * Returns the bytes from the base to the last byte that is touched. They count from the base and not from the first touched byte, so that they include
     * all accesses even if a driver uses a smaller pitch or height. A pitch or height of 0, or one that is too small for the rows, counts as the smallest
     * possible one.
     *
     * @param pitch  bytes from row to row
     * @param rows   rows from plane to plane
     * @param width  bytes of a row that are copied
     * @return 0 if nothing is touched
     * @throws RejectedException if anything is beyond all memory
     */
    static long bytes(long x, long y, long z, long pitch, long rows, long width, long height, long depth)
            throws RejectedException {
        for (long number : new long[] {x, y, z, pitch, rows, width, height, depth}) {
            inMemory(number);
        }
        if (width == 0 || height == 0 || depth == 0) {
            return 0;
        }
        long row = pitch == 0 ? inMemory(x + width) : Math.max(width, pitch);
        long plane = product(rows == 0 ? inMemory(y + height) : Math.max(height, rows), row, z + depth - 1);
        long before = inMemory(plane + product(y + height - 1, row, 1));
        return inMemory(before + x + width);
    }

    private static long inMemory(long number) throws RejectedException {
        if (number < 0 || number > MOST) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "a copy beyond all memory");
        }
        return number;
    }

    /** Returns the product of three numbers of bytes or rows; 0 if one of them is 0, however large the others are. */
    private static long product(long first, long second, long third) throws RejectedException {
        if (first == 0 || second == 0 || third == 0) {
            return 0;
        }
        if (Math.multiplyHigh(first, second) != 0 || first * second < 0) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "a copy beyond all memory");
        }
        long both = inMemory(first * second);
        if (Math.multiplyHigh(both, third) != 0) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "a copy beyond all memory");
        }
        return inMemory(both * third);
    }
}
