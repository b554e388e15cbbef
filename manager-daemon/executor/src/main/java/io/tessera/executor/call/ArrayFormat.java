package io.tessera.executor.call;

/** {@code CUarray_format}: how large elements are. Stateless. */
public final class ArrayFormat {
    private static final int MOST_CHANNELS = 4;

    private ArrayFormat() {
    }

    /**
     * Bytes of an element.
     *
     * @throws RejectedException if linear memory has no such elements
     */
    public static long elementBytes(int format, int channels) throws RejectedException {
        int bytes = switch (format) {
            case 0x01, 0x08 -> 1;
            case 0x02, 0x09, 0x10 -> 2;
            case 0x03, 0x0a, 0x20 -> 4;
            default -> throw CallFrame.malformed("elements of a format that linear memory does not have");
        };
        if (channels < 1 || channels > MOST_CHANNELS) {
            throw CallFrame.malformed(channels + " channels");
        }
        return (long) bytes * channels;
    }

    /**
     * Bytes of an element of an array.
     *
     * @return 0: of compressed blocks, or of planes, whose rows are no rows of elements
     */
    public static long arrayElementBytes(int format, int channels) {
        return switch (format) {
            case 0x01, 0x08 -> channels;
            case 0x02, 0x09, 0x10 -> 2L * channels;
            case 0x03, 0x0a, 0x20 -> 4L * channels;
            // Normalised integers name their channels themselves: 8 and 16 bits, unsigned and signed, of 1, 2, and 4.
            case 0xc0, 0xc6 -> 1;
            case 0xc1, 0xc3, 0xc7, 0xc9 -> 2;
            case 0xc2, 0xc4, 0xc8, 0xca -> 4;
            case 0xc5, 0xcb -> 8;
            default -> 0;
        };
    }
}
