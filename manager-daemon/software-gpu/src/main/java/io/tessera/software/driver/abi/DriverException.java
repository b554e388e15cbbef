package io.tessera.software.driver.abi;

import io.tessera.device.CudaError;

/** A driver entry ends with this result code. Carries no stack trace: it is an answer, not a defect. */
public final class DriverException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final CudaError error;

    /** Ends an entry with a code. */
    public DriverException(CudaError error) {
        this(error, error.text());
    }

    /** Ends an entry with a code, and a reason for the log. */
    public DriverException(CudaError error, String reason) {
        super(reason, null, false, false);
        this.error = error;
    }

    /** Returns the code. */
    public CudaError error() {
        return error;
    }

    /** Ends the entry with a code unless a condition holds. */
    public static void require(boolean condition, CudaError otherwise) {
        if (!condition) {
            throw new DriverException(otherwise);
        }
    }
}
