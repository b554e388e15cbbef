package io.tessera.executor.warmup;

import java.io.Serial;

/** The warm-up cannot continue. The executor works without it. */
public final class WarmUpEndedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an instance with the reason. */
    public WarmUpEndedException(String reason) {
        super(reason);
    }
}
