package io.tessera.manager.schedule.mode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.ScriptedTurnPort;
import io.tessera.manager.schedule.turn.AutoSettings;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When {@code auto} changes the mode between turns and free running, stepped by hand in turns of 250 ms. */
class AutoPolicyTest {
    private static final long MS = 1_000_000L;
    private static final long QUANTUM_MS = 250;

    private final ScriptedTurnPort port = new ScriptedTurnPort();
    private final AutoPolicy policy = new AutoPolicy(ScheduleSettings.defaults().withAuto(
            AutoSettings.defaults().withRetrialNs(4000 * MS, 4000 * MS)), port, () -> 0, 0);
    private final long[] submissions = new long[3];
    private long nowMs;
    private long runningClient;

    /** Lets time pass in steps of 10 ms: 10 submissions each in a turn, 4 for either client running freely. */
    private void pass(long ms) {
        for (long untilMs = nowMs + ms; nowMs < untilMs;) {
            nowMs += 10;
            for (int id = 1; id <= 2; id++) {
                submissions[id] += !policy.exclusive() ? 4 : runningClient == id ? 10 : 0;
                port.loads.put((long) id, new ClientLoad(submissions[id], nowMs / 10, nowMs / 10, 0, 0));
            }
            if (policy.nextDeadlineNs() <= nowMs * MS) {
                policy.doWork(nowMs * MS);
            }
            policy.turnQuantumNs(QUANTUM_MS * MS);
        }
    }

    private void grant(long id) {
        runningClient = id;
        policy.turnStarted(id, nowMs * MS);
        policy.waits(id, false, nowMs * MS);
    }

    private void end(long id) {
        runningClient = 0;
        policy.turnEnded(id, nowMs * MS - QUANTUM_MS * MS, nowMs * MS);
        if (policy.exclusive()) {
            policy.waits(id, true, nowMs * MS);
        }
    }

    private void turn(long id) {
        grant(id);
        pass(QUANTUM_MS);
        end(id);
    }

    private String reason() {
        return policy.reason(nowMs * MS);
    }

    /** Two clients of which turns make 1.00 and free running 0.80 of a device: turns it is. */
    @BeforeEach
    void turnsAreDecided() {
        policy.joined(1, 0);
        policy.joined(2, 0);
        while (!policy.exclusive()) {
            pass(10);
            assertTrue(nowMs < 5000, this::reason);
        }
        policy.waits(1, true, nowMs * MS);
        policy.waits(2, true, nowMs * MS);
        while (reason().contains("on trial")) {
            turn(1);
            turn(2);
            assertTrue(nowMs < 15_000, this::reason);
        }
        assertTrue(reason().startsWith("turns: 1.00 against 0.80"), this::reason);
    }

    @Test
    void aTrialOfFreeRunningBeginsWhereARoundEnds() {
        long sinceMs = nowMs;
        while (policy.exclusive()) {
            turn(1);
            assertTrue(policy.exclusive(), "client 1 had a turn more");
            turn(2);
            assertTrue(nowMs - sinceMs < 10_000, this::reason);
        }
        assertEquals("running freely: on trial against turns", reason());
    }

    @Test
    void aClientThatAsksNoMoreHoldsNoTrialUp() {
        turn(1);
        turn(2);
        long sinceMs = nowMs;
        policy.waits(2, false, nowMs * MS);
        while (policy.exclusive() && nowMs - sinceMs < 10_000) {
            turn(1);
            // It still works on its own, and so counts as active.
            submissions[2]++;
        }
        assertFalse(policy.exclusive(), this::reason);
        assertEquals("running freely: on trial against turns", reason());
    }

    @Test
    void aTurnThatDoesNotEndHoldsATrialUpForTwoRounds() {
        for (int i = 0; i < 4; i++) {
            turn(1);
            turn(2);
        }
        assertTrue(policy.exclusive(), this::reason);
        grant(1);
        long sinceMs = nowMs;
        while (policy.exclusive()) {
            pass(10);
            assertTrue(nowMs - sinceMs < 10_000, this::reason);
        }
        assertEquals("running freely: on trial against turns", reason());
        // Due 4 s after the decision, looked at every 250 ms, and then two rounds of 500 ms.
        long waitedMs = nowMs - sinceMs;
        assertTrue(waitedMs >= 2 * 2 * QUANTUM_MS && waitedMs <= 4000 + 2 * 2 * QUANTUM_MS + 2 * 250, waitedMs + " ms");
    }
}
