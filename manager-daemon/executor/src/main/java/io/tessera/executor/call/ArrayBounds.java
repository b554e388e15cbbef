package io.tessera.executor.call;

import io.tessera.device.CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Checks that a copy stays within its arrays. Only the shape of an array is taken from the driver. Its own bounds check is not relied on: an overflow in it
 * would lead into other clients' memory. One owner thread.
 */
public final class ArrayBounds {
    /** Upper bound of the bytes of an element of a compressed or planar format: a block of BC2 to BC7 has 16 bytes for 16 elements. */
    private static final long MOST_ELEMENT_BYTES = 16;
    private final DriverCalls driver;
    private final DeferredReleases deferredReleases;
    private final MovedBytes moved;

    /** Creates an instance for one client. */
    public ArrayBounds(DriverCalls driver, DeferredReleases deferredReleases, MovedBytes moved) {
        this.moved = moved;
        this.deferredReleases = deferredReleases;
        this.driver = driver;
    }

    /**
     * Checks bytes in a row of an array, of a call whose handles are translated.
     *
     * @param array the parameter that is the array; the offset in bytes follows it
     * @param bytes the parameter that is their number
     * @throws RejectedException if one of them lies outside
     */
    public void row(CallFrame frame, int array, int bytes) throws RejectedException {
        MemorySegment shape = shape(frame.slot(array));
        inside(frame.slot(array + 1), frame.slot(bytes),
                width(shape) * count(shape, CUDA_ARRAY3D_DESCRIPTOR.Height) * count(shape, CUDA_ARRAY3D_DESCRIPTOR.Depth));
        moved.ofArray(frame.slot(bytes));
    }

    /**
     * Checks a box of an array.
     *
     * @param array the driver's handle
     * @throws RejectedException if a part of it lies outside; all numbers are unsigned
     */
    void box(long array, long xBytes, long y, long z, long widthBytes, long height, long depth) throws RejectedException {
        MemorySegment shape = shape(array);
        inside(xBytes, widthBytes, width(shape));
        inside(y, height, count(shape, CUDA_ARRAY3D_DESCRIPTOR.Height));
        inside(z, depth, count(shape, CUDA_ARRAY3D_DESCRIPTOR.Depth));
        moved.ofArray(widthBytes * height * depth);
    }

    private MemorySegment shape(long array) throws RejectedException {
        deferredReleases.names(array);
        int result = driver.call(DriverEntry.cuArray3DGetDescriptor_v2, driver.outRoom(), array);
        if (result != CudaResult.SUCCESS) {
            throw new RejectedException(result, "an array whose shape the driver does not tell");
        }
        return driver.outMemory();
    }

    private static long width(MemorySegment shape) {
        long elementBytes = ArrayFormat.arrayElementBytes(shape.get(WireTypes.U32, CUDA_ARRAY3D_DESCRIPTOR.Format),
                shape.get(WireTypes.U32, CUDA_ARRAY3D_DESCRIPTOR.NumChannels));
        return shape.get(WireTypes.U64, CUDA_ARRAY3D_DESCRIPTOR.Width) * (elementBytes == 0 ? MOST_ELEMENT_BYTES : elementBytes);
    }

    private static long count(MemorySegment shape, int at) {
        return Math.max(1, shape.get(WireTypes.U64, at));
    }

    private static void inside(long first, long count, long all) throws RejectedException {
        if (first < 0 || count < 0 || count > all || first > all - count) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "a copy beyond an array");
        }
    }
}
