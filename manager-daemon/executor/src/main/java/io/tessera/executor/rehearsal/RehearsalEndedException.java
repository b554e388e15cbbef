package io.tessera.executor.rehearsal;

import java.io.Serial;

/** A rehearsal that cannot go on. The executor serves without. */
public final class RehearsalEndedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** With why. */
    public RehearsalEndedException(String reason) {
        super(reason);
    }
}
