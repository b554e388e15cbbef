package io.tessera.executor.ring;

import java.io.Serial;

/** The structure of a ring is invalid, which no correct client causes. The client is ended. */
public final class BrokenRingException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an instance with what is wrong. */
    public BrokenRingException(String reason) {
        super(reason);
    }
}
