package io.tessera.executor.call;

import io.tessera.device.CudaEnums.ElementFormat;

/** {@code CUarray_format}: how large elements are. Stateless. */
public final class ArrayFormat {
    private static final int MOST_CHANNELS = 4;

    private ArrayFormat() {
    }

    /**
     * Returns the bytes of an element.
     *
     * @throws RejectedException if linear memory has no such elements
     */
    public static long elementBytes(int format, int channels) throws RejectedException {
        int bytes = switch (format) {
            case ElementFormat.UNSIGNED_INT8, ElementFormat.SIGNED_INT8 -> 1;
            case ElementFormat.UNSIGNED_INT16, ElementFormat.SIGNED_INT16, ElementFormat.HALF -> 2;
            case ElementFormat.UNSIGNED_INT32, ElementFormat.SIGNED_INT32, ElementFormat.FLOAT -> 4;
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
     * @return 0 for formats of compressed blocks or of planes, whose rows do not consist of elements
     */
    public static long arrayElementBytes(int format, int channels) {
        return switch (format) {
            case ElementFormat.UNSIGNED_INT8, ElementFormat.SIGNED_INT8 -> channels;
            case ElementFormat.UNSIGNED_INT16, ElementFormat.SIGNED_INT16, ElementFormat.HALF -> 2L * channels;
            case ElementFormat.UNSIGNED_INT32, ElementFormat.SIGNED_INT32, ElementFormat.FLOAT -> 4L * channels;
            // The names of normalised integer formats contain the number of channels: 8 and 16 bits, unsigned and signed, with 1, 2, and 4.
            case ElementFormat.UNORM_INT8X1, ElementFormat.SNORM_INT8X1 -> 1;
            case ElementFormat.UNORM_INT8X2, ElementFormat.UNORM_INT16X1, ElementFormat.SNORM_INT8X2, ElementFormat.SNORM_INT16X1 -> 2;
            case ElementFormat.UNORM_INT8X4, ElementFormat.UNORM_INT16X2, ElementFormat.SNORM_INT8X4, ElementFormat.SNORM_INT16X2 -> 4;
            case ElementFormat.UNORM_INT16X4, ElementFormat.SNORM_INT16X4 -> 8;
            default -> 0;
        };
    }
}
