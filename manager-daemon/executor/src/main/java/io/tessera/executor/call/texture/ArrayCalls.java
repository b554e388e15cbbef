package io.tessera.executor.call.texture;

import io.tessera.device.CudaEnums.ArrayFlag;
import io.tessera.device.CudaLayouts.CUDA_ARRAY3D_DESCRIPTOR;
import io.tessera.device.CudaLayouts.CUDA_ARRAY_DESCRIPTOR;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.ArrayFormat;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.window.ClientWindow;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Arrays are memory of the driver, which may contain another tenant's data: they are zeroed before the client gets a handle. Layouts are cuda.h's
 * {@code CUDA_ARRAY_DESCRIPTOR} and {@code CUDA_ARRAY3D_DESCRIPTOR}. One owner thread.
 */
final class ArrayCalls {
    /** The depth counts layers and faces. */
    private static final int IN_LAYERS = ArrayFlag.LAYERED | ArrayFlag.CUBEMAP;
    /** Arrays whose memory is mapped by calls that are not relayed. */
    private static final int WITHOUT_MEMORY = ArrayFlag.SPARSE | ArrayFlag.DEFERRED_MAPPING;
    private static final int MOST_CHANNELS = 4;
    private static final int MOST_LEVELS = 32;

    private final DeviceContext device;
    private final DriverCalls driver;
    private final ClientWindow window;
    private final ArrayEnds ends;

    private record Shape(long rowElements, long rows, long planes, boolean layered, long elementBytes) {
        long bytes(int level) {
            return Math.max(1, rowElements >> level) * elementBytes;
        }

        long rows(int level) {
            return Math.max(1, rows >> level);
        }

        long planes(int level) {
            return Math.max(1, layered ? planes : planes >> level);
        }

        int levels() {
            long longest = Math.max(rowElements, Math.max(rows, layered ? 1 : planes));
            return Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, longest));
        }
    }

    ArrayCalls(DeviceContext device, DriverCalls driver, ClientWindow window, ArrayEnds ends) {
        this.device = device;
        this.driver = driver;
        this.window = window;
        this.ends = ends;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuArrayCreate).executes((frame, _) -> array(frame, false));
        calls.row(DriverApi.cuArray3DCreate).executes((frame, _) -> array(frame, true));
        calls.row(DriverApi.cuMipmappedArrayCreate).executes(this::mipmap);
        calls.row(DriverApi.cuArrayDestroy).ends(HandleKind.ARRAY).executes((frame, _) -> ends.end(HandleKind.ARRAY, frame.slot(0)));
        calls.row(DriverApi.cuMipmappedArrayDestroy).ends(HandleKind.MIPMAP).executes((frame, _) -> ends.end(HandleKind.MIPMAP, frame.slot(0)));
        calls.plain(DriverApi.cuArray3DGetDescriptor, DriverApi.cuArrayGetDescriptor, DriverApi.cuArrayGetMemoryRequirements,
                DriverApi.cuArrayGetPlane,
                DriverApi.cuArrayGetSparseProperties, DriverApi.cuMipmappedArrayGetLevel, DriverApi.cuMipmappedArrayGetMemoryRequirements,
                DriverApi.cuMipmappedArrayGetSparseProperties);
        calls.plainWithoutContext(DriverApi.cuDeviceGetTexture1DLinearMaxWidth);
    }

    private static Shape shape(MemorySegment described, boolean deep) throws RejectedException {
        int format = described.get(WireTypes.U32, deep ? CUDA_ARRAY3D_DESCRIPTOR.Format : CUDA_ARRAY_DESCRIPTOR.Format);
        int channels = described.get(WireTypes.U32, deep ? CUDA_ARRAY3D_DESCRIPTOR.NumChannels : CUDA_ARRAY_DESCRIPTOR.NumChannels);
        int flags = deep ? described.get(WireTypes.U32, CUDA_ARRAY3D_DESCRIPTOR.Flags) : 0;
        if (channels < 1 || channels > MOST_CHANNELS) {
            throw CallFrame.malformed(channels + " channels");
        }
        long bytes = ArrayFormat.arrayElementBytes(format, channels);
        if (bytes == 0 || (flags & WITHOUT_MEMORY) != 0) {
            throw RejectedException.unsupported("an array of format 0x" + Integer.toHexString(format) + " with flags 0x" + Integer.toHexString(flags)
                    + " (it cannot be zeroed before the program has it)");
        }
        long width = described.get(WireTypes.U64, CUDA_ARRAY3D_DESCRIPTOR.Width);
        long height = described.get(WireTypes.U64, CUDA_ARRAY3D_DESCRIPTOR.Height);
        long depth = deep ? described.get(WireTypes.U64, CUDA_ARRAY3D_DESCRIPTOR.Depth) : 0;
        for (long extent : new long[] {width, height, depth}) {
            if (extent < 0 || extent > Integer.MAX_VALUE) {
                throw CallFrame.malformed("an array of extent " + Long.toUnsignedString(extent));
            }
        }
        return new Shape(width, height, depth, (flags & IN_LAYERS) != 0, bytes);
    }

    /** Parameters: array, descriptor. */
    private int array(CallFrame frame, boolean deep) throws RejectedException {
        frame.want(0, Long.BYTES);
        Shape shape = shape(frame.required(1), deep);
        int result = window.attempt(() -> driver.call(frame.entry(), frame.slots()));
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long array = frame.data(0).get(WireTypes.U64, 0);
        return answer(zero(array, shape, 0, driver -> driver.call(DriverEntry.cuArrayDestroy, array)));
    }

    /** Parameters: mipmapped array, descriptor, levels. */
    private int mipmap(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        Shape shape = shape(frame.required(1), true);
        int result = window.attempt(() -> driver.call(frame.entry(), frame.slots()));
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long made = frame.data(0).get(WireTypes.U64, 0);
        // A driver makes at most as many levels as it takes to reduce the array to a single element.
        long levels = Math.min(Math.min(Integer.toUnsignedLong((int) frame.slot(2)), shape.levels()), MOST_LEVELS);
        Consumer<DriverCalls> destroy = driver -> driver.call(DriverEntry.cuMipmappedArrayDestroy, made);
        for (int level = 0; level < levels; level++) {
            result = driver.call(DriverEntry.cuMipmappedArrayGetLevel, driver.out(0), made, level);
            if (result != CudaResult.SUCCESS) {
                destroy.accept(driver);
                return answer(result);
            }
            result = zero(driver.outLong(0), shape, level, destroy);
            if (result != CudaResult.SUCCESS) {
                return answer(result);
            }
        }
        return CudaResult.SUCCESS;
    }

    private int zero(long array, Shape shape, int level, Consumer<DriverCalls> destroy) {
        return device.arrays().zero(driver, array, shape.bytes(level), shape.rows(level),
                shape.planes(level), destroy);
    }

    /** Returns the client's result: an array that cannot be zeroed counts as out of memory. */
    private static int answer(int result) {
        return result == CudaResult.SUCCESS || FatalErrors.isFatal(result) ? result : CudaResult.OUT_OF_MEMORY;
    }
}
