package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.window.WindowAccess;
import java.util.function.IntSupplier;

/** The whole address space as one window, from the driver's own memory: no walls. One owner thread. */
public final class OpenSpace implements WindowAccess {
    private static final long BYTES = 1L << 47;

    private final DriverCalls driver;

    /** Over a driver. */
    public OpenSpace(DriverCalls driver) {
        this.driver = driver;
    }

    @Override
    public long baseAddress() {
        return 0;
    }

    @Override
    public long sizeBytes() {
        return BYTES;
    }

    @Override
    public long guardBytes() {
        return 0;
    }

    @Override
    public boolean contains(long address, long bytes) {
        return true;
    }

    @Override
    public long allocate(long bytes, long alignment) {
        return driver.call(DriverEntry.cuMemAlloc_v2, driver.out(0), bytes) == CudaResult.SUCCESS ? driver.outLong(0) : 0;
    }

    @Override
    public void free(long address) {
        driver.call(DriverEntry.cuMemFree_v2, address);
    }

    @Override
    public int backEverywhere() {
        return CudaResult.SUCCESS;
    }

    @Override
    public boolean isBacked() {
        return true;
    }

    @Override
    public int whenQuiet(IntSupplier change) {
        return change.getAsInt();
    }
}
