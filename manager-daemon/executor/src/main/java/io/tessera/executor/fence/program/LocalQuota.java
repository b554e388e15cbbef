package io.tessera.executor.fence.program;

import io.tessera.device.CudaResult;
import io.tessera.device.DeviceAttribute;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;

/**
 * Bound on the local memory of a kernel. In the context that all tenants share, a driver allocates local memory for all threads that the device can run at
 * once, as much for each as the largest kernel needs, and does not give it back. It is charged to no tenant, so one kernel could take the whole device.
 *
 * @param threads    number that the device can run at once; 0: not known
 * @param totalBytes of the device's memory
 */
public record LocalQuota(long threads, long totalBytes) {
    /** Minimum for every kernel, the bound up to which {@code cuCtxSetLimit} raises the stack. */
    static final long LEAST_BYTES = 64 << 10;
    /** The part of a device's memory that local memory may take. */
    private static final int PART = 4;

    /** Creates the bound for a device, by its number. */
    public static LocalQuota of(int device, DriverCalls driver) {
        long threads = (long) attribute(device, DeviceAttribute.MULTIPROCESSOR_COUNT, driver)
                * attribute(device, DeviceAttribute.MAX_THREADS_PER_MULTIPROCESSOR, driver);
        int result = driver.call(DriverEntry.cuDeviceTotalMem_v2, driver.out(0), device);
        return new LocalQuota(threads, result == CudaResult.SUCCESS ? driver.outLong(0) : 0);
    }

    private static int attribute(int device, int attribute, DriverCalls driver) {
        int result = driver.call(DriverEntry.cuDeviceGetAttribute, driver.out(0), attribute, device);
        return result == CudaResult.SUCCESS ? driver.outInt(0) : 0;
    }

    /** Returns the local memory that a thread of a kernel may have, in bytes. */
    long mostBytes() {
        return threads <= 0 ? LEAST_BYTES : Math.max(LEAST_BYTES, totalBytes / PART / threads);
    }

    /**
     * Refuses a kernel that has more.
     *
     * @param localBytes of each thread
     * @throws ProgramRefusedException if that is too much
     */
    public void check(String kernel, long localBytes) throws ProgramRefusedException {
        if (localBytes > mostBytes()) {
            throw ProgramRefusedException.toTell(CudaResult.OUT_OF_MEMORY, "kernel " + kernel + " has " + localBytes
                    + " bytes of local memory for each thread, " + (localBytes * threads >> 20) + " MiB for all that the device runs at once; "
                    + mostBytes()
                    + " bytes are what it may take of a device that is shared; keep less in arrays of a thread, or run the program with --share time");
        }
    }
}
