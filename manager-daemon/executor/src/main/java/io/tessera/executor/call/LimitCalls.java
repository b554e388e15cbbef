package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.stream.ClientContext;

/**
 * Limits of the context, which all clients share: they grow and never shrink. What they take is memory of the device that
 * counts for nobody, so no client may raise them far. One owner thread.
 */
final class LimitCalls {
    /** {@code CUlimit}: bytes of stack a thread, of printf's buffer, of the heap of kernels. */
    private static final long[] MOST = {64L << 10, 64L << 20, 256L << 20};

    private final ClientState client;

    LimitCalls(ClientState client) {
        this.client = client;
    }

    /** Parameters: limit, value. */
    int set(CallFrame frame, ClientContext context) throws RejectedException {
        DriverCalls driver = client.driver();
        int result = driver.call(DriverEntry.cuCtxGetLimit, driver.out(0), frame.slot(0));
        if (result != CudaResult.SUCCESS || Long.compareUnsigned(driver.outLong(0), frame.slot(1)) >= 0) {
            return result;
        }
        long limit = frame.slot(0);
        if (limit < MOST.length && limit >= 0 && Long.compareUnsigned(frame.slot(1), MOST[(int) limit]) > 0) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "limit " + limit + " of "
                    + Long.toUnsignedString(frame.slot(1)) + " in a context that is shared");
        }
        return driver.call(frame.plan().entry(), frame.slots());
    }
}
