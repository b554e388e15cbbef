package io.tessera.software.driver.memory;

/**
 * Place of a box of bytes: its address, and the distances of its rows and slices.
 *
 * @param address    of the first byte
 * @param pitchBytes from a row to the next
 * @param sliceBytes from a slice to the next
 */
public record PitchedPlace(long address, long pitchBytes, long sliceBytes) {
    /**
     * Returns the bytes from the first one to the end of a box here.
     *
     * @throws ArithmeticException if rows or slices overlap or are in reverse order, or if the result exceeds 63 bits: such numbers are invalid, and a sum that
     * wraps around would look small
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
