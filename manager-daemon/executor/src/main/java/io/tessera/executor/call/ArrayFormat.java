package io.tessera.executor.call;

/** {@code CUarray_format} as textures over linear memory have it. Stateless. */
final class ArrayFormat {
    private static final int MOST_CHANNELS = 4;

    private ArrayFormat() {
    }

    /**
     * Bytes of an element.
     *
     * @throws RejectedException if linear memory has no such elements
     */
    static long elementBytes(int format, int channels) throws RejectedException {
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
}
