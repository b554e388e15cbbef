package io.tessera.manager.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tessera.os.Activity;
import org.junit.jupiter.api.Test;

/** When a silent executor is given up, and when the manager waits for it. */
class HangDetectionTest {
    private static final long MS = 1_000_000L;
    private static final long STEP_NS = 500 * MS;

    private final HangDetection lateness = new HangDetection();
    private long nowNs = 10_000 * MS;

    HangDetectionTest() {
        lateness.heard(nowNs);
    }

    /** Checks every half second while a process does the same all the time. Returns the milliseconds after which it is given up; -1: not in 40 s. */
    private long givenUpAfterMs(boolean stopped, boolean runnable, long ticksPerStep) {
        long beganNs = nowNs;
        long ticks = 700;
        while (nowNs - beganNs < 40_000 * MS) {
            nowNs += STEP_NS;
            ticks += ticksPerStep;
            Activity seen = new Activity(stopped, runnable, ticks);
            if (lateness.verdict(() -> seen, nowNs) != null) {
                return (nowNs - beganNs) / MS;
            }
        }
        return -1;
    }

    @Test
    void whoIsStoppedIsGivenUpAfterASecond() {
        assertEquals(1_000, givenUpAfterMs(true, false, 0));
    }

    @Test
    void whoIsFrozenIsGivenUpWhenNothingOfItHasRunForASecond() {
        assertEquals(1_500, givenUpAfterMs(false, false, 0), "a second from the first look");
    }

    @Test
    void whoWaitsForAProcessorIsWaitedForAsLongAsClientsWait() {
        assertEquals(30_000, givenUpAfterMs(false, true, 0));
    }

    @Test
    void whoRunsAndSaysNothingIsGivenUpAfterTenSecondsOfProcessorTime() {
        assertEquals(20_500, givenUpAfterMs(false, true, 25), "half a processor, from the first look");
    }

    @Test
    void whoSleepsAndRunsByTurnsIsMerelyLate() {
        for (int i = 0; i < 20; i++) {
            nowNs += STEP_NS;
            Activity seen = new Activity(false, i % 2 == 0, 700);
            assertNull(lateness.verdict(() -> seen, nowNs), "step " + i);
        }
    }

    @Test
    void aWordMakesUpForEverything() {
        nowNs += 900 * MS;
        assertNull(lateness.verdict(() -> new Activity(true, false, 0), nowNs));
        lateness.heard(nowNs);
        nowNs += STEP_NS;
        assertNull(lateness.verdict(() -> new Activity(true, false, 0), nowNs), "half a second of silence");
    }

    @Test
    void whoIsGoneIsNotJudged() {
        nowNs += 60_000 * MS;
        assertNull(lateness.verdict(() -> null, nowNs));
    }
}
