package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** The calls against which a capture guards because it cannot record them, in the order of CUstreamCaptureMode. */
public enum CaptureMode {
    /** Such calls of every thread. */
    GLOBAL,
    /** Such calls of the capturing thread. */
    THREAD_LOCAL,
    /** No calls. */
    RELAXED;

    /** Returns the mode with a number. */
    public static CaptureMode of(int number) {
        DriverException.require(number >= 0 && number < values().length, CudaError.INVALID_VALUE);
        return values()[number];
    }
}
