package io.tessera.executor.launch;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.fence.Launchable;

/**
 * Times the first launches of kernels with many blocks on the device, one launch at a time, to estimate how long a larger grid of such a kernel will take. One
 * owner thread.
 */
final class GridTimer {
    /** Number of launches of a kernel that are timed: several, because the time of a block may depend on the parameters. */
    private static final int TIMED_LAUNCHES = 8;
    private static final double NS_PER_MS = 1e6;

    private final DriverCalls driver;
    /** Events before and behind a launch; 0: not made yet. */
    private final long[] events = new long[2];
    private Launchable kernel;
    private long blocks;
    private boolean complete;

    GridTimer(DriverCalls driver) {
        this.driver = driver;
    }

    /** Records that a kernel is about to be launched as a whole, in a driver's stream that is not captured. */
    void before(Launchable whole, LaunchPlan launch, long stream) {
        if (whole.timedLaunches() >= TIMED_LAUNCHES) {
            return;
        }
        look();
        if (kernel == null && record(0, stream)) {
            kernel = whole;
            blocks = launch.blocks();
            complete = false;
        }
    }

    /** Records that the launch was submitted, or was refused by the driver with a CUresult: then there is nothing to time. */
    void behind(Launchable whole, int result, long stream) {
        if (kernel == whole && !complete) {
            complete = result == CudaResult.SUCCESS && record(1, stream);
            kernel = complete ? kernel : null;
        }
    }

    /** Takes the time of a launch that is done. */
    void look() {
        if (kernel == null || !complete) {
            kernel = null; // its launch was refused
            return;
        }
        int result = driver.call(DriverEntry.cuEventElapsedTime, driver.out(0), events[0], events[1]);
        if (result == CudaResult.SUCCESS) {
            kernel.timed(blocks, (long) (Float.intBitsToFloat(driver.outInt(0)) * NS_PER_MS));
        }
        kernel = result == CudaResult.NOT_READY ? kernel : null;
    }

    private boolean record(int i, long stream) {
        if (events[i] == 0) {
            if (driver.call(DriverEntry.cuEventCreate, driver.out(0), 0) != CudaResult.SUCCESS) {
                return false;
            }
            events[i] = driver.outLong(0);
        }
        return driver.call(DriverEntry.cuEventRecord, events[i], stream) == CudaResult.SUCCESS;
    }

    /** Destroys the events; no work is left. */
    void close() {
        for (long event : events) {
            if (event != 0) {
                driver.call(DriverEntry.cuEventDestroy_v2, event);
            }
        }
    }
}
