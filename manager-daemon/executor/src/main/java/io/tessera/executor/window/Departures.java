package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.executor.driver.CudaResult;
import io.tessera.guardian.heap.HeapRefusal;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * Clients that have gone and whose memory is not all given back yet. Their programs have ended, so to everybody else this
 * memory is free: who finds none waits for them. Thread-safe.
 */
final class Departures {
    /** Longer than the work of a client that has gone may take (RELAY.md, section 7). */
    private static final long PATIENCE_NS = 12_000_000_000L;
    private static final long POLL_NS = 1_000_000L;

    private final NanoClock clock;
    private final Relief relief;
    private final AtomicInteger leaving = new AtomicInteger();
    private final AtomicLong gone = new AtomicLong();

    Departures(NanoClock clock, Relief relief) {
        this.clock = clock;
        this.relief = relief;
    }

    /** A client has gone. */
    void begin() {
        leaving.incrementAndGet();
    }

    /** All that it had is given back, or never will be. */
    void end() {
        gone.incrementAndGet();
        leaving.decrementAndGet();
    }

    /**
     * Does something that takes device memory, again where others give some back, and as often as somebody who has gone did,
     * for a bounded time. Meanwhile the asking client counts as having left the gate.
     *
     * @param action answers with a CUresult
     */
    int attempt(ClientWindow client, IntSupplier action) {
        return (int) attempt(client, () -> relief.attempt(action), result -> result == CudaResult.OUT_OF_MEMORY);
    }

    /** The same with what a heap answers, which looks for others' memory itself. */
    long attemptOfHeap(ClientWindow client, LongSupplier action) {
        return attempt(client, action,
                answer -> answer == HeapRefusal.NO_MEMORY.code() || answer == HeapRefusal.OVER_QUOTA.code());
    }

    private long attempt(ClientWindow client, LongSupplier action, LongPredicate lacksMemory) {
        long goneBefore = gone.get();
        long result = action.getAsLong();
        if (!lacksMemory.test(result) || client.isLeaving() || client.pass().holdsLock()) {
            return result;
        }
        long untilNs = clock.nanoTime() + PATIENCE_NS;
        while (lacksMemory.test(result)) {
            long known = goneBefore;
            client.pass().outside(() -> {
                while (gone.get() == known && leaving.get() > 0 && clock.nanoTime() - untilNs < 0) {
                    LockSupport.parkNanos(POLL_NS);
                }
            });
            if (gone.get() == known) {
                return result; // nobody is leaving, or not in time
            }
            goneBefore = gone.get();
            result = action.getAsLong();
        }
        return result;
    }
}
