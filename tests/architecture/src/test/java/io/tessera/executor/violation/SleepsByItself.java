package io.tessera.executor.violation;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/** A wait without a limit. */
public final class SleepsByItself {
    /** Waits. */
    public LongConsumer it() {
        return LockSupport::parkNanos;
    }
}
