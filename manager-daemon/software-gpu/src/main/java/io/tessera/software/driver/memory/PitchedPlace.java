package io.tessera.software.driver.memory;

/**
 * Where a box of bytes begins, and how its rows and slices lie.
 *
 * @param address    of the first byte
 * @param pitchBytes from a row to the next
 * @param sliceBytes from a slice to the next
 */
public record PitchedPlace(long address, long pitchBytes, long sliceBytes) {
    /**
     * Bytes from the first to behind the last of a box here.
     *
     * @throws ArithmeticException if rows or slices overlap or lie backwards, or if 63 bits do not hold it: such numbers are wrong,
     *         and a sum that wrapped would pass for a small one
     */
    public long span(Extent3 box) {
        if (box.empty()) {
            return 0;
        }
        long slice = span(box.widthBytes(), box.height(), pitchBytes);
        return span(slice, box.depth(), sliceBytes);
    }

    private static long span(long part, long count, long distance) {
        if (part < 0 || count < 0 || count > 1 && distance < part) {
            throw new ArithmeticException("parts of " + part + " bytes, one every " + distance);
        }
        return Math.addExact(count > 1 ? Math.multiplyExact(count - 1, distance) : 0, part);
    }

    /** Returns whether a box lies here without gaps. */
    public boolean dense(Extent3 box) {
        return (box.height() == 1 || pitchBytes == box.widthBytes())
                && (box.depth() == 1 || sliceBytes == box.widthBytes() * box.height());
    }
}
