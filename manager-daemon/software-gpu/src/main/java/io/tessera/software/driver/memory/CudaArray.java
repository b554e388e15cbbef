package io.tessera.software.driver.memory;

import io.tessera.device.CudaEnums.ArrayFlag;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/**
 * A CUDA array: elements in rows, rows in slices or layers, dense but for the row's pitch. Immutable.
 *
 * @param width    elements of a row
 * @param height   rows, 0 for a one-dimensional array
 * @param depth    slices, layers or faces; 0 for none
 * @param format   of a channel
 * @param channels 1, 2 or 4
 * @param flags    CUDA_ARRAY3D flags
 * @param storage  where the elements are
 */
public record CudaArray(long width, long height, long depth, CudaArrayFormat format, int channels, int flags,
        AddressRange storage) {
    /** Bytes that a row's pitch is a multiple of: the device's texture pitch alignment. */
    public static final long PITCH_ALIGNMENT = 32;

    private static final int CUBE_FACES = 6;
    private static final long LARGEST = 1L << 17;

    /** Allocates the storage of an array; ends the entry with the driver's error for a shape it refuses. */
    public static CudaArray create(long[] extent, CudaArrayFormat format, int channels, int flags, DriverMemory memory,
            long context) {
        long width = extent[0];
        long height = extent[1];
        long depth = extent[2];
        DriverException.require((channels == 1 || channels == 2 || channels == 4)
                && (flags & ~(ArrayFlag.LAYERED | ArrayFlag.SURFACE_LDST | ArrayFlag.CUBEMAP | ArrayFlag.TEXTURE_GATHER)) == 0,
                CudaError.INVALID_VALUE);
        DriverException.require(width > 0 && width <= LARGEST && height >= 0 && height <= LARGEST && depth >= 0
                && depth <= LARGEST, CudaError.INVALID_VALUE);
        DriverException.require((flags & ArrayFlag.LAYERED) == 0 || depth > 0, CudaError.INVALID_VALUE);
        DriverException.require((flags & ArrayFlag.LAYERED) != 0 || depth == 0 || height > 0, CudaError.INVALID_VALUE);
        DriverException.require((flags & ArrayFlag.CUBEMAP) == 0 || width == height
                && ((flags & ArrayFlag.LAYERED) == 0 ? depth == CUBE_FACES : depth % CUBE_FACES == 0), CudaError.INVALID_VALUE);
        long pitch = pitch(width, format, channels);
        AddressRange storage = memory.allocate(pitch * Math.max(1, height) * Math.max(1, depth),
                AddressRange.Kind.ARRAY, context);
        return new CudaArray(width, height, depth, format, channels, flags, storage);
    }

    private static long pitch(long width, CudaArrayFormat format, int channels) {
        return (width * format.bytes() * channels + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    }

    /** Bytes of an element. */
    public int elementBytes() {
        return format.bytes() * channels;
    }

    /** Bytes from a row to the next. */
    public long pitchBytes() {
        return pitch(width, format, channels);
    }

    /** Bytes from a slice or layer to the next. */
    public long sliceBytes() {
        return pitchBytes() * Math.max(1, height);
    }

    /** Returns whether the last dimension counts layers. */
    public boolean layered() {
        return (flags & ArrayFlag.LAYERED) != 0;
    }

    /** A place inside; ends the entry with INVALID_VALUE where a box does not fit. */
    public PitchedPlace place(long xBytes, long y, long z, Extent3 box) {
        DriverException.require(inside(xBytes, box.widthBytes(), width * elementBytes())
                && inside(y, box.height(), Math.max(1, height)) && inside(z, box.depth(), Math.max(1, depth)),
                CudaError.INVALID_VALUE);
        return new PitchedPlace(storage.address() + z * sliceBytes() + y * pitchBytes() + xBytes, pitchBytes(),
                sliceBytes());
    }

    /** Numbers are unsigned, and their sum may be beyond 64 bits. */
    private static boolean inside(long first, long count, long all) {
        return first >= 0 && count >= 0 && count <= all && first <= all - count;
    }
}
