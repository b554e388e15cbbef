package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.util.Arrays;

/**
 * Makes zeroed memory for a window before it becomes part of it. The zeros are written through separate addresses, so the tenant's work need not rest, and
 * no program sees earlier contents. Guarded by the window's lock.
 */
final class FreshMemory {
    private final DriverPages driverPages;
    private final long pieceBytes;
    private final NanoClock clock;
    private final MemoryPressureRetry pressure;
    private long scratch;
    private final OwnStream stream = new OwnStream();

    /**
     * Creates pieces of one size.
     *
     * @param pressure retries where there is no memory
     */
    FreshMemory(DriverPages driverPages, long pieceBytes, NanoClock clock, MemoryPressureRetry pressure) {
        this.driverPages = driverPages;
        this.pieceBytes = pieceBytes;
        this.clock = clock;
        this.pressure = pressure;
    }

    /** Makes this many pieces, within the bound of the outer wait. Returns null if there is no memory; then nothing is left allocated. */
    long[] make(DriverCalls driver, BoundedWait outer, int pieces) {
        long[] handles = new long[pieces];
        int made = 0;
        boolean done = open(driver) == CudaResult.SUCCESS;
        while (done && made < pieces) {
            int first = driverPages.create(driver, pieceBytes);
            done = pressure.again(outer, first, () -> driverPages.create(driver, pieceBytes)) == CudaResult.SUCCESS;
            if (done) {
                handles[made] = driver.outLong(0);
                made++;
                done = zeroed(driver, handles[made - 1]);
            }
        }
        if (done) {
            return handles;
        }
        discard(driver, Arrays.copyOf(handles, made));
        return null;
    }

    /** Gives memory back that is not needed after all. */
    void discard(DriverCalls driver, long[] handles) {
        for (long handle : handles) {
            driverPages.drop(driver, handle);
        }
    }

    /** Zeroes memory that a program made, through addresses that are taken for the purpose. */
    boolean zero(DriverCalls driver, long handle, long bytes) {
        if (open(driver) != CudaResult.SUCCESS || driverPages.reserve(driver, bytes, 0, 0) != CudaResult.SUCCESS) {
            return false;
        }
        long at = driver.outLong(0);
        boolean done = zeroed(driver, handle, at, bytes);
        return driverPages.release(driver, at, bytes) == CudaResult.SUCCESS && done;
    }

    private int open(DriverCalls driver) {
        if (scratch == 0) {
            int result = driverPages.reserve(driver, pieceBytes, 0, 0);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            scratch = driver.outLong(0);
        }
        return CudaResult.SUCCESS;
    }

    private boolean zeroed(DriverCalls driver, long handle) {
        return zeroed(driver, handle, scratch, pieceBytes);
    }

    private boolean zeroed(DriverCalls driver, long handle, long at, long bytes) {
        if (driver.port().makesZeroedMemory()) {
            return true;
        }
        if (driverPages.map(driver, at, bytes, handle) != CudaResult.SUCCESS) {
            return false;
        }
        boolean done = driverPages.allow(driver, at, bytes) == CudaResult.SUCCESS
                && stream.zero(driver, at, bytes) == CudaResult.SUCCESS
                && stream.await(driver, BoundedWait.begin(clock, WaitLimit.ZEROS)) == CudaResult.SUCCESS;
        return driverPages.unmap(driver, at, bytes) == CudaResult.SUCCESS && done;
    }

    /** Gives addresses and stream back. */
    int close(DriverCalls driver) {
        int result = CudaResult.SUCCESS;
        if (scratch != 0) {
            result = driverPages.release(driver, scratch, pieceBytes);
            scratch = 0;
        }
        int other = stream.close(driver);
        return result == CudaResult.SUCCESS ? other : result;
    }
}
