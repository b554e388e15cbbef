package io.tessera.executor.wait;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.NanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits end in time, and one within another with that at the latest. */
@Timeout(60)
class BoundedWaitTest {
    private long nowNs;
    private final NanoClock clock = () -> nowNs;

    @Test
    void aWaitEndsAtItsLimit() {
        BoundedWait wait = BoundedWait.begin(clock, WaitLimit.MEMORY_PRESSURE);
        nowNs += WaitLimit.MEMORY_PRESSURE.mostNs() - 1;
        assertFalse(wait.isOver());
        nowNs++;
        assertTrue(wait.isOver());
    }

    @Test
    void aWaitWithinAnotherEndsWithIt() {
        BoundedWait outer = BoundedWait.begin(clock, WaitLimit.PENDING_RECLAIMS);
        nowNs += WaitLimit.PENDING_RECLAIMS.mostNs() - 1_000_000_000L;
        BoundedWait inner = BoundedWait.begin(clock, WaitLimit.TENANT_REST, outer);
        BoundedWait shorter = BoundedWait.begin(clock, WaitLimit.MEMORY_PRESSURE, outer);
        nowNs += 500_000_000L;
        assertTrue(shorter.isOver(), "its own limit is the nearer one");
        assertFalse(inner.isOver());
        nowNs += 500_000_000L;
        assertTrue(outer.isOver());
        assertTrue(inner.isOver());
    }

    @Test
    void whatIsSoIsNotWaitedFor() {
        BoundedWait wait = BoundedWait.begin(clock, WaitLimit.MEMORY_PRESSURE);
        nowNs += WaitLimit.MEMORY_PRESSURE.mostNs();
        assertTrue(wait.until(() -> true), "looked at before the clock");
        assertFalse(wait.until(() -> false));
    }

    @Test
    void aWaitLooksAgainAndAgain() {
        int[] looks = new int[1];
        BoundedWait wait = BoundedWait.begin(clock, WaitLimit.LOSS);
        assertTrue(wait.until(() -> ++looks[0] == 5));
        assertEquals(5, looks[0]);
    }

    @Test
    void asleepForLongerThanTheLimitIsNobody() {
        long[] looks = new long[1];
        NanoClock ticking = () -> ++looks[0] * 100_000_000L;
        BoundedWait.sleep(ticking, WaitLimit.LONG_CALL, 10_000_000_000L);
        assertTrue(looks[0] >= 6 && looks[0] < 12, "500 ms of a clock that goes 100 ms at each look: " + looks[0]);
        looks[0] = 0;
        BoundedWait.sleep(ticking, WaitLimit.LONG_CALL, 150_000_000L);
        assertTrue(looks[0] <= 4, "a shorter time: " + looks[0]);
    }

    @Test
    void anInterruptedThreadWaitsOnAndStaysInterrupted() {
        BoundedWait wait = BoundedWait.begin(() -> nowNs += 1_000_000L, WaitLimit.MEMORY_PRESSURE);
        Thread.currentThread().interrupt();
        try {
            assertFalse(wait.until(() -> false));
            assertTrue(Thread.currentThread().isInterrupted());
        } finally {
            Thread.interrupted();
        }
    }
}
