package io.tessera.software.driver.operation;

import io.tessera.device.CudaError;
import io.tessera.software.driver.work.Operation;

/**
 * Calls a CUstreamCallback; also in a lost context, with its error.
 *
 * @param function its address
 * @param stream   the stream's handle, as the program gave it
 * @param userData its argument
 */
public record StreamCallback(long function, long stream, long userData) implements Operation {
    @Override
    public Place place() {
        return Place.OUTSIDE;
    }

    @Override
    public boolean run(Run task) {
        CudaError error = task.fault().error();
        NativeCalls.streamCallback(function, stream, error == null ? 0 : error.code(), userData);
        return true;
    }

    @Override
    public boolean runsAfterFault() {
        return true;
    }
}
