package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.stream.ClientContext;

/** Limits of the context, which all clients share: they grow and never shrink. One owner thread. */
final class LimitCalls {
    private final ClientState client;

    LimitCalls(ClientState client) {
        this.client = client;
    }

    /** Parameters: limit, value. */
    int set(CallFrame frame, ClientContext context) {
        DriverCalls driver = client.driver();
        int result = driver.call(DriverEntry.cuCtxGetLimit, driver.out(0), frame.slot(0));
        if (result != CudaResult.SUCCESS || Long.compareUnsigned(driver.outLong(0), frame.slot(1)) >= 0) {
            return result;
        }
        return driver.call(frame.plan().entry(), frame.slots());
    }
}
