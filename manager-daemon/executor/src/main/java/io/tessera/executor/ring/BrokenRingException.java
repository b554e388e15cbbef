package io.tessera.executor.ring;

import java.io.Serial;

/** A ring whose structure no honest client writes: its client ends. */
public final class BrokenRingException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an instance with what is wrong. */
    public BrokenRingException(String reason) {
        super(reason);
    }
}
