package io.tessera.executor.stream;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Streams of a green context that has all multiprocessors (CUDA driver API, "Green Contexts"): a way to learn whether a device
 * lets kernels of two clients overlap otherwise when they come from different ones, as they do from clients of MPS. For
 * measurements, with {@code -Dtessera.executor.streams=green}; only legacy streams of clients come from it. One owner thread.
 */
final class GreenStreams {
    /** Whether it was asked for. */
    static final boolean WANTED = "green".equals(System.getProperty("tessera.executor.streams"));
    private static final Logger LOG = LoggerFactory.getLogger(GreenStreams.class);
    /** CU_DEV_RESOURCE_TYPE_SM, CU_GREEN_CTX_DEFAULT_STREAM, CU_STREAM_NON_BLOCKING. */
    private static final long MULTIPROCESSORS = 1;
    private static final long DEFAULT_STREAM = 1;
    private static final long NON_BLOCKING = 1;
    /** Where CUdevResource is put in the room for results: it is smaller than what is left behind. */
    private static final int RESOURCE = 8;

    private final DriverCalls driver;
    private long context;
    private int refused = CudaResult.SUCCESS;

    GreenStreams(DriverCalls driver) {
        this.driver = driver;
    }

    /** CUresult of making a stream, whose handle is then the driver's first result. */
    int create() {
        if (context == 0 && refused == CudaResult.SUCCESS) {
            refused = open();
            LOG.warn("streams of a green context, for measurements: {}", refused == CudaResult.SUCCESS ? "made" : refused);
        }
        return refused != CudaResult.SUCCESS ? refused
                : driver.call(DriverEntry.cuGreenCtxStreamCreate, driver.out(0), context, NON_BLOCKING, 0);
    }

    private int open() {
        int result = driver.call(DriverEntry.cuCtxGetDevice, driver.out(0));
        int device = driver.outInt(0);
        if (result == CudaResult.SUCCESS) {
            long room = driver.outRoom() + (long) RESOURCE * Long.BYTES;
            result = driver.call(DriverEntry.cuDeviceGetDevResource, device, room, MULTIPROCESSORS);
            if (result == CudaResult.SUCCESS) {
                result = driver.call(DriverEntry.cuDevResourceGenerateDesc, driver.out(0), room, 1);
            }
        }
        if (result == CudaResult.SUCCESS) {
            long description = driver.outLong(0);
            result = driver.call(DriverEntry.cuGreenCtxCreate, driver.out(0), description, device, DEFAULT_STREAM);
            context = result == CudaResult.SUCCESS ? driver.outLong(0) : 0;
        }
        return result;
    }

    /** All its streams are destroyed. */
    void close() {
        if (context != 0) {
            driver.call(DriverEntry.cuGreenCtxDestroy, context);
            context = 0;
        }
    }
}
