package io.tessera.executor.driver;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import java.io.Serial;

/** The driver refused a call without which an executor cannot work. Contains the call and the error. */
public final class DriverFailedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an instance with the call and its CUresult. */
    public DriverFailedException(DriverApi call, int result) {
        super(call + " answered " + result);
    }

    /**
     * Checks the answer of a call.
     *
     * @throws DriverFailedException if it is not SUCCESS
     */
    public static void check(DriverApi call, int result) throws DriverFailedException {
        if (result != CudaResult.SUCCESS) {
            throw new DriverFailedException(call, result);
        }
    }
}
