package io.tessera.executor.launch;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.MemoryRange;
import java.util.List;

/**
 * A copy of a client's memory on the device, outside of all windows, from before a launch. The copies are ordered in the launch's stream. One owner thread.
 */
final class SavedMemory {
    /** Largest copy, in bytes. */
    static final long MOST_BYTES = 1L << 30;

    private final ClientCharge charge;
    private final DriverCalls driver;
    private long address;
    private long bytes;

    /** @param charge pays for the copy */
    SavedMemory(ClientCharge charge, DriverCalls driver) {
        this.charge = charge;
        this.driver = driver;
    }

    /** Makes room for this many bytes, if the tenant's limit allows it and the device has it without anybody giving memory up. Returns whether there is. */
    boolean reserve(long wanted) {
        if (wanted > MOST_BYTES) {
            return false;
        }
        if (wanted <= bytes) {
            return true;
        }
        close();
        if (!charge.take(wanted)) {
            return false;
        }
        if (driver.callAtOnce(DriverEntry.cuMemAlloc_v2, driver.out(0), wanted) != CudaResult.SUCCESS) {
            charge.giveBack(wanted);
            return false;
        }
        address = driver.outLong(0);
        bytes = wanted;
        return true;
    }

    /** Begins to copy ranges of a client, behind the work of a driver's stream. They fit the reserved room. Returns a CUresult. */
    int save(List<MemoryRange> ranges, long stream) {
        return copy(ranges, stream, false);
    }

    /** Begins to copy the same ranges back, as they were saved. Returns a CUresult. */
    int restore(List<MemoryRange> ranges, long stream) {
        return copy(ranges, stream, true);
    }

    private int copy(List<MemoryRange> ranges, long stream, boolean back) {
        long at = address;
        for (MemoryRange range : ranges) {
            int result = driver.call(DriverEntry.cuMemcpyDtoDAsync_v2, back ? range.address() : at, back ? at : range.address(), range.bytes(),
                    stream);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            at += range.bytes();
        }
        return CudaResult.SUCCESS;
    }

    /** Gives the copy's memory back; no copy is in progress. */
    void close() {
        if (bytes > 0) {
            driver.call(DriverEntry.cuMemFree_v2, address);
            charge.giveBack(bytes);
            address = 0;
            bytes = 0;
        }
    }
}
