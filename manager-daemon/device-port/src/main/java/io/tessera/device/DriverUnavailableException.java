package io.tessera.device;

import java.io.Serial;

/** There is no such driver or device here; the message says why, and what the user can do. */
public final class DriverUnavailableException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an instance with the reason, as a sentence for users. */
    public DriverUnavailableException(String reason) {
        super(reason);
    }

    /** Creates an instance with the reason and its cause. */
    public DriverUnavailableException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
