package io.tessera.executor.driver;

import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.util.function.LongToIntFunction;

/**
 * A stream for the executor's own writes to memory that a client gets afterwards. Clients' streams do not wait for the null stream, and a driver returns before
 * the device has written. So the writes are submitted here and awaited before the client learns the address. The stream has the highest priority, because work
 * of clients with a higher priority that never pauses would delay a kernel here without end. The owner ensures that one thread at a time calls.
 */
public final class OwnStream {
    /** Higher than the highest priority of any device; a driver takes the highest that it has. */
    private static final long HIGHEST = -100;

    /** The stream; 0: not made yet. */
    private long stream;

    private int open(DriverCalls driver) {
        if (stream != 0) {
            return CudaResult.SUCCESS;
        }
        int result = driver.call(DriverEntry.cuStreamCreateWithPriority, driver.out(0), StreamFlag.NON_BLOCKING, HIGHEST);
        if (result == CudaResult.SUCCESS) {
            stream = driver.outLong(0);
        }
        return result;
    }

    /** Begins to write bytes from host memory, which must stay valid until the write is awaited. Returns a CUresult. */
    public int write(DriverCalls driver, long address, long from, long bytes) {
        int result = open(driver);
        return result == CudaResult.SUCCESS
                ? driver.call(DriverEntry.cuMemcpyHtoDAsync_v2, address, from, bytes, stream) : result;
    }

    /** Begins to write zeros. Returns a CUresult. */
    public int zero(DriverCalls driver, long address, long bytes) {
        int result = open(driver);
        return result == CudaResult.SUCCESS ? driver.call(DriverEntry.cuMemsetD8Async, address, 0, bytes, stream) : result;
    }

    /** Begins to write a word this many times. Returns a CUresult. */
    public int words(DriverCalls driver, long address, int value, long count) {
        int result = open(driver);
        return result == CudaResult.SUCCESS
                ? driver.call(DriverEntry.cuMemsetD32Async, address, Integer.toUnsignedLong(value), count, stream) : result;
    }

    /**
     * Begins something else.
     *
     * @param submission gets the stream and returns a CUresult
     * @return a CUresult
     */
    public int submit(DriverCalls driver, LongToIntFunction submission) {
        int result = open(driver);
        return result == CudaResult.SUCCESS ? submission.applyAsInt(stream) : result;
    }

    /** Begins a copy that a CUDA_MEMCPY3D describes. Returns a CUresult. */
    int copy(DriverCalls driver, long description) {
        int result = open(driver);
        return result == CudaResult.SUCCESS ? driver.call(DriverEntry.cuMemcpy3DAsync_v2, description, stream) : result;
    }

    /**
     * Waits for the submitted work. The wait has no bound of its own: the supervision of long driver calls ({@code Executor.lookAfterCalls}) ends endless
     * work of others. Returns a CUresult.
     */
    public int await(DriverCalls driver) {
        int result = query(driver);
        if (result != CudaResult.NOT_READY) {
            return result;
        }
        driver.waitBegins();
        try {
            while (result == CudaResult.NOT_READY) {
                BoundedWait.moment(WaitLimit.OWN_WORK);
                result = query(driver);
            }
        } finally {
            driver.waitEnds();
        }
        return result;
    }

    /**
     * Waits for the work that was begun.
     *
     * @param wait bound on the wait
     * @return a CUresult; NOT_READY: it is not done yet
     */
    public int await(DriverCalls driver, BoundedWait wait) {
        int result = query(driver);
        while (result == CudaResult.NOT_READY && !wait.isOver()) {
            wait.pause();
            result = query(driver);
        }
        return result;
    }

    /** Returns whether all submitted work is done. */
    public boolean isDone(DriverCalls driver) {
        return query(driver) == CudaResult.SUCCESS;
    }

    private int query(DriverCalls driver) {
        return stream == 0 ? CudaResult.SUCCESS : driver.call(DriverEntry.cuStreamQuery, stream);
    }

    /** Gives the stream back. Returns a CUresult. */
    public int close(DriverCalls driver) {
        long ended = stream;
        stream = 0;
        return ended == 0 ? CudaResult.SUCCESS : driver.call(DriverEntry.cuStreamDestroy_v2, ended);
    }
}
