package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.Holdovers;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * Whether what a copy touches of an array lies in it. The driver is asked for the array's shape and for nothing else: an array's
 * addresses are the driver's, so a comparison of its own that wraps would lead into anybody's memory. One owner thread.
 */
final class ArrayBounds {
    /** {@code CUDA_ARRAY3D_DESCRIPTOR}: width at 0, height, depth, format and channels. */
    private static final int HEIGHT = 8;
    private static final int DEPTH = 16;
    private static final int FORMAT = 24;
    private static final int CHANNELS = 28;
    /** No element of a compressed or planar format has more bytes: a block of BC2 to BC7 has 16 for 16 elements. */
    private static final long MOST_ELEMENT_BYTES = 16;
    /** Parameters of copies of bytes in a row: where arrays stand, their offsets behind them, and the count. */
    private static final Map<String, Rows> ROWS = Map.of(
            "cuMemcpyDtoA", new Rows(0, -1, 3), "cuMemcpyAtoD", new Rows(-1, 1, 3), "cuMemcpyHtoA", new Rows(0, -1, 3),
            "cuMemcpyHtoAAsync", new Rows(0, -1, 3), "cuMemcpyAtoH", new Rows(-1, 1, 3), "cuMemcpyAtoHAsync", new Rows(-1, 1, 3),
            "cuMemcpyAtoA", new Rows(0, 2, 4));

    private final DriverCalls driver;
    private final Holdovers holdovers;
    private final MovedBytes moved;

    private record Rows(int target, int source, int bytes) {
    }

    ArrayBounds(DriverCalls driver, Holdovers holdovers, MovedBytes moved) {
        this.moved = moved;
        this.holdovers = holdovers;
        this.driver = driver;
    }

    /** Checks a call that copies bytes in a row from or to arrays; its handles are translated. Others pass. */
    void rows(CallFrame frame) throws RejectedException {
        Rows rows = ROWS.get(frame.plan().api());
        if (rows == null) {
            return;
        }
        for (int array : new int[] {rows.target, rows.source}) {
            if (array >= 0) {
                MemorySegment shape = shape(frame.slot(array));
                inside(frame.slot(array + 1), frame.slot(rows.bytes), width(shape) * count(shape, HEIGHT) * count(shape, DEPTH));
                moved.ofArray(frame.slot(rows.bytes));
            }
        }
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
        inside(y, height, count(shape, HEIGHT));
        inside(z, depth, count(shape, DEPTH));
        moved.ofArray(widthBytes * height * depth);
    }

    private MemorySegment shape(long array) throws RejectedException {
        holdovers.names(array);
        int result = driver.call(DriverEntry.cuArray3DGetDescriptor_v2, driver.outRoom(), array);
        if (result != CudaResult.SUCCESS) {
            throw new RejectedException(result, "an array whose shape the driver does not tell");
        }
        return driver.outMemory();
    }

    private static long width(MemorySegment shape) {
        long elementBytes = ArrayFormat.arrayElementBytes(shape.get(WireTypes.U32, FORMAT), shape.get(WireTypes.U32, CHANNELS));
        return shape.get(WireTypes.U64, 0) * (elementBytes == 0 ? MOST_ELEMENT_BYTES : elementBytes);
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
