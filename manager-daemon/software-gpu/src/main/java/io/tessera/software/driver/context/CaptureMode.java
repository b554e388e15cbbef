package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** How a capture guards against calls that it cannot record, in the order of CUstreamCaptureMode. */
public enum CaptureMode {
    /** Against such calls of every thread. */
    GLOBAL,
    /** Against such calls of the capturing thread. */
    THREAD_LOCAL,
    /** Not at all. */
    RELAXED;

    /** Returns the mode with a number. */
    public static CaptureMode of(int number) {
        DriverException.require(number >= 0 && number < values().length, CudaError.INVALID_VALUE);
        return values()[number];
    }
}
