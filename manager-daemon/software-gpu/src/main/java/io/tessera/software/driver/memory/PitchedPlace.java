package io.tessera.software.driver.memory;

/**
 * Where a box of bytes begins, and how its rows and slices lie.
 *
 * @param address    of the first byte
 * @param pitchBytes from a row to the next
 * @param sliceBytes from a slice to the next
 */
public record PitchedPlace(long address, long pitchBytes, long sliceBytes) {
    /** Bytes from the first to behind the last of a box here. */
    public long span(Extent3 box) {
        return box.empty() ? 0
                : (box.depth() - 1) * sliceBytes + (box.height() - 1) * pitchBytes + box.widthBytes();
    }

    /** Whether a box lies here without gaps. */
    public boolean dense(Extent3 box) {
        return (box.height() == 1 || pitchBytes == box.widthBytes())
                && (box.depth() == 1 || sliceBytes == box.widthBytes() * box.height());
    }
}
