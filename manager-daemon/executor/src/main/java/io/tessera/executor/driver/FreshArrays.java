package io.tessera.executor.driver;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaLayouts.CUDA_MEMCPY3D;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.MemoryType;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Zeroes arrays that a driver has just made, because it returns them with former contents. Zeros are copied from a buffer that stays in the device's
 * cache, on a stream without work of clients; both belong to the context and end with it. Thread-safe; one array at a time.
 */
public final class FreshArrays {
    /** Bytes of zeros: large enough that 1 GiB takes only 128 copies, and small enough to stay in the cache (50 MiB on an H100). */
    static final long ZEROS_BYTES = 8 << 20;
    /** Maximum number of pending copies: fewer than a driver accepts before it blocks its caller. */
    private static final int MOST_OUT = 256;

    /** Arrays that were not zeroed in time: destroyed when nothing writes them any more. */
    private final List<Consumer<DriverCalls>> late = new ArrayList<>();
    private final NanoClock clock;
    private final OwnStream stream = new OwnStream();
    private long zeros;
    private int out;

    /** Creates an instance for one context, without arrays. */
    FreshArrays(NanoClock clock) {
        this.clock = clock;
    }

    /**
     * Zeroes a whole array; after any result but SUCCESS the caller must not give it to a client.
     *
     * @param rowBytes bytes of a row
     * @param rows     1 or more
     * @param planes   slices, layers and faces: 1 or more
     * @param destroy destroys an array that was not zeroed in time; called with a later client's calls, when nothing writes the array any more
     * @return a CUresult; NOT_READY if it takes too long
     */
    public synchronized int zero(DriverCalls driver, long array, long rowBytes, long rows, long planes, Consumer<DriverCalls> destroy) {
        int result = open(driver);
        if (result == CudaResult.SUCCESS) {
            result = fill(driver, array, rowBytes, rows, planes);
        }
        int quiet = await(driver);
        if (quiet == CudaResult.NOT_READY) {
            late.add(destroy);
            return quiet;
        }
        late.forEach(end -> end.accept(driver));
        late.clear();
        result = result == CudaResult.SUCCESS ? quiet : result;
        if (result != CudaResult.SUCCESS) {
            destroy.accept(driver);
        }
        return result;
    }

    private int open(DriverCalls driver) {
        if (zeros != 0) {
            return CudaResult.SUCCESS;
        }
        int result = driver.call(DriverEntry.cuMemAlloc_v2, driver.out(0), ZEROS_BYTES);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long made = driver.outLong(0);
        result = stream.zero(driver, made, ZEROS_BYTES);
        if (result == CudaResult.SUCCESS) {
            zeros = made;
        } else {
            driver.call(DriverEntry.cuMemFree_v2, made);
        }
        return result;
    }

    private int fill(DriverCalls driver, long array, long rowBytes, long rows, long planes) {
        long width = Math.min(rowBytes, ZEROS_BYTES);
        long height = Math.min(rows, ZEROS_BYTES / width);
        long depth = height < rows ? 1 : Math.min(planes, ZEROS_BYTES / (width * height));
        for (long z = 0; z < planes; z += depth) {
            for (long y = 0; y < rows; y += height) {
                for (long x = 0; x < rowBytes; x += width) {
                    MemorySegment copy = copy(driver, array, x, y, z);
                    copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.srcPitch, width);
                    copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.srcHeight, height);
                    copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.WidthInBytes, Math.min(width, rowBytes - x));
                    copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.Height, Math.min(height, rows - y));
                    copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.Depth, Math.min(depth, planes - z));
                    int result = submit(driver, copy);
                    if (result != CudaResult.SUCCESS) {
                        return result;
                    }
                }
            }
        }
        return CudaResult.SUCCESS;
    }

    private MemorySegment copy(DriverCalls driver, long array, long x, long y, long z) {
        driver.outRoom();
        MemorySegment copy = driver.outMemory();
        copy.set(ValueLayout.JAVA_INT, CUDA_MEMCPY3D.srcMemoryType, MemoryType.DEVICE);
        copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.srcDevice, zeros);
        copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.dstXInBytes, x);
        copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.dstY, y);
        copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.dstZ, z);
        copy.set(ValueLayout.JAVA_INT, CUDA_MEMCPY3D.dstMemoryType, MemoryType.ARRAY);
        copy.set(ValueLayout.JAVA_LONG, CUDA_MEMCPY3D.dstArray, array);
        return copy;
    }

    private int submit(DriverCalls driver, MemorySegment copy) {
        if (out == MOST_OUT) {
            int result = await(driver);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
        }
        out++;
        return stream.copy(driver, copy.address());
    }

    private int await(DriverCalls driver) {
        int result = stream.await(driver, BoundedWait.begin(clock, WaitLimit.ZEROS));
        out = result == CudaResult.NOT_READY ? out : 0;
        return result;
    }
}
