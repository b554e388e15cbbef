package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.guardian.heap.HeapRefusal;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * Counts clients that have left and have not given back all their memory yet. Their programs have ended, so other clients expect this memory to be free. A
 * client that finds no memory waits for them. Thread-safe.
 */
final class PendingReclaims {
    private final NanoClock clock;
    private final MemoryPressureRetry pressure;
    private final AtomicInteger leaving = new AtomicInteger();
    private final AtomicLong gone = new AtomicLong();

    PendingReclaims(NanoClock clock, MemoryPressureRetry pressure) {
        this.clock = clock;
        this.pressure = pressure;
    }

    /** Records that a client has left. */
    void begin() {
        leaving.incrementAndGet();
    }

    /** Records that all its memory is given back, or never will be. */
    void end() {
        gone.incrementAndGet();
        leaving.decrementAndGet();
    }

    /** Returns how many clients have given everything back since the executor began; read before an attempt. */
    long gone() {
        return gone.get();
    }

    /** Returns whether a heap has no memory, or the quota allows no more. */
    static boolean isRefusal(long answer) {
        return answer == HeapRefusal.NO_MEMORY.code() || answer == HeapRefusal.OVER_QUOTA.code();
    }

    /**
     * Runs an action that takes device memory. While it is refused, repeats it each time a client that has left has given its memory back, for a bounded time.
     * During the waits the client counts as outside the gate.
     *
     * @param action returns a CUresult
     */
    int attempt(WindowClient client, IntSupplier action) {
        long goneBefore = gone.get();
        return (int) again(client, goneBefore, attemptUnderPressure(client, action), () -> attemptUnderPressure(client, action),
                answer -> answer == CudaResult.OUT_OF_MEMORY);
    }

    private int attemptUnderPressure(WindowClient client, IntSupplier action) {
        return pressure.again(client.waiting(), action.getAsInt(), action);
    }

    /**
     * As above, for a heap's answer; the heap itself looks for others' memory.
     *
     * @param goneBefore {@link #gone} before the heap's first answer
     * @param answer     the heap's first answer
     */
    long again(WindowClient client, long goneBefore, long answer, LongSupplier action) {
        return again(client, goneBefore, answer, action, PendingReclaims::isRefusal);
    }

    private long again(WindowClient client, long goneBefore, long answer, LongSupplier action, LongPredicate lacksMemory) {
        if (!lacksMemory.test(answer) || client.isLeaving() || client.pass().holdsLock()) {
            return answer;
        }
        BoundedWait outer = client.waiting();
        BoundedWait wait = BoundedWait.begin(clock, WaitLimit.PENDING_RECLAIMS, outer);
        client.waitsWithin(wait);
        try {
            return again(client, wait, goneBefore, answer, action, lacksMemory);
        } finally {
            client.waitsWithin(outer);
        }
    }

    private long again(WindowClient client, BoundedWait wait, long goneBefore, long answer, LongSupplier action, LongPredicate lacksMemory) {
        long result = answer;
        long before = goneBefore;
        while (lacksMemory.test(result)) {
            long known = before;
            client.pass().outside(() -> wait.until(() -> gone.get() != known || leaving.get() <= 0));
            if (gone.get() == known) {
                return result; // no client is leaving, or not in time
            }
            before = gone.get();
            result = action.getAsLong();
        }
        return result;
    }
}
