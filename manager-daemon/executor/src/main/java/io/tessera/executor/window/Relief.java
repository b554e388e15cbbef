package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.executor.driver.CudaResult;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/** Where the device has no memory left, the other tenants are asked to give back what they do not use. Thread-safe. */
final class Relief {
    /** Their threads look up after 100 ms at the latest. */
    private static final long PATIENCE_NS = 300_000_000L;
    private static final long POLL_NS = PATIENCE_NS / 30;

    private final NanoClock clock;
    private final Runnable ask;

    /**
     * With somebody who asks them.
     *
     * @param ask does not wait
     */
    Relief(NanoClock clock, Runnable ask) {
        this.clock = clock;
        this.ask = ask;
    }

    /**
     * Does something that takes memory, again and again for a short time if there is none.
     *
     * @param action answers with a CUresult
     */
    int attempt(IntSupplier action) {
        int result = action.getAsInt();
        if (result != CudaResult.OUT_OF_MEMORY) {
            return result;
        }
        ask.run();
        long untilNs = clock.nanoTime() + PATIENCE_NS;
        while (result == CudaResult.OUT_OF_MEMORY && clock.nanoTime() - untilNs < 0) {
            LockSupport.parkNanos(POLL_NS);
            result = action.getAsInt();
        }
        return result;
    }
}
