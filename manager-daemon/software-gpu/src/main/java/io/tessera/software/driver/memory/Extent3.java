package io.tessera.software.driver.memory;

/**
 * A box of bytes to copy.
 *
 * @param widthBytes bytes of a row
 * @param height     rows of a slice
 * @param depth      slices
 */
public record Extent3(long widthBytes, long height, long depth) {
    /** Returns whether there is nothing to copy. */
    public boolean empty() {
        return widthBytes == 0 || height == 0 || depth == 0;
    }

    /** Returns the total number of bytes. */
    public long bytes() {
        return widthBytes * height * depth;
    }
}
