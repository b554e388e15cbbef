package io.tessera.executor.warmup;

import java.io.Serial;

/** A warm-up that cannot go on. The executor serves without. */
public final class WarmUpEndedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an instance with the reason. */
    public WarmUpEndedException(String reason) {
        super(reason);
    }
}
