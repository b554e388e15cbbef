package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.mode.AutoPolicy;
import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Managed memory that does not fit together: whether {@code auto} finds out that its clients use so much of it that they thrash. Two clients, stepped
 * by hand in turns of 250 ms, in which they submit once a millisecond.
 */
class WishedTurnsTest {
    private static final long MS = 1_000_000L;
    private static final long QUANTUM_MS = 250;
    private static final MemoryVerdict WISH = new MemoryVerdict(true, true, false, 0, "managed memory is short");
    private static final MemoryVerdict FITS = new MemoryVerdict(true, false, false, 0, "memory fits");

    private final ScriptedTurnPort port = new ScriptedTurnPort();
    private final AutoPolicy policy = new AutoPolicy(ScheduleSettings.defaults(), port, () -> 0, 0);
    private final double[] submissions = new double[3];
    private long nowMs;
    private long runningClient;

    /** Submissions per millisecond of either client while both run freely. */
    private double freely = 0.5;

    @BeforeEach
    void twoClientsAreActive() {
        policy.joined(1, 0);
        policy.joined(2, 0);
        policy.memory(FITS, 0);
        pass(300);
        assertFalse(policy.exclusive(), this::reason);
    }

    private void pass(long ms) {
        for (long untilMs = nowMs + ms; nowMs < untilMs;) {
            nowMs += 10;
            for (int id = 1; id <= 2; id++) {
                submissions[id] += 10 * (!policy.exclusive() ? freely : runningClient == id ? 1 : 0);
                port.loads.put((long) id, new ClientLoad((long) submissions[id], nowMs / 10, nowMs / 10, 0, 0));
            }
            if (policy.nextDeadlineNs() <= nowMs * MS) {
                policy.doWork(nowMs * MS);
            }
            policy.turnQuantumNs(QUANTUM_MS * MS);
        }
    }

    private void memory(MemoryVerdict verdict) {
        policy.memory(verdict, nowMs * MS);
        policy.doWork(nowMs * MS);
    }

    private void turn(long id) {
        runningClient = id;
        policy.turnStarted(id, nowMs * MS);
        policy.waits(id, false, nowMs * MS);
        pass(QUANTUM_MS);
        runningClient = 0;
        policy.turnEnded(id, nowMs * MS - QUANTUM_MS * MS, nowMs * MS);
        if (policy.exclusive()) {
            policy.waits(id, true, nowMs * MS);
        }
    }

    /** Takes turns until free running is tried. */
    private void untilTrial() {
        policy.waits(1, true, nowMs * MS);
        policy.waits(2, true, nowMs * MS);
        long sinceMs = nowMs;
        while (policy.exclusive()) {
            turn(1);
            turn(2);
            assertTrue(nowMs - sinceMs < 10_000, this::reason);
        }
        assertEquals("running freely: on trial against turns", reason());
    }

    private String reason() {
        return policy.reason(nowMs * MS);
    }

    @Test
    void turnsBeginAtOnceAndWhatThrashesKeepsThem() {
        memory(WISH);
        assertTrue(policy.exclusive(), this::reason);
        assertEquals("turns: managed memory is short, to be compared with running freely", reason());
        freely = 0.1;
        untilTrial();
        pass(1_000);
        assertTrue(policy.exclusive(), this::reason);
        assertEquals("turns: 1.00 against 0.20 running freely, measured 0 s ago; managed memory is short", reason());
        int changes = 0;
        for (long untilMs = nowMs + 60_000; nowMs < untilMs;) {
            turn(1);
            turn(2);
            changes += policy.exclusive() ? 0 : 1;
        }
        assertTrue(changes <= 8, changes + " rounds of 120 were on trial");
    }

    @Test
    void memoryThatIsHardlyUsedCostsNobodyItsFreedomUntilItIs() {
        memory(WISH);
        freely = 0.6;
        untilTrial();
        pass(2_500);
        assertFalse(policy.exclusive(), this::reason);
        assertTrue(reason().startsWith("running freely: 1.20 against 1.00 in turns"), this::reason);
        assertTrue(reason().endsWith("; managed memory is short"), this::reason);
        pass(20_000);
        assertFalse(policy.exclusive(), "turns of trial length would cost a move each");
        freely = 0.1;
        long sinceMs = nowMs;
        while (!policy.exclusive()) {
            pass(10);
            assertTrue(nowMs - sinceMs <= 1_000, this::reason);
        }
        assertEquals("turns: managed memory is short, to be compared with running freely", reason());
    }

    @Test
    void whenItFitsTheyRunFreely() {
        memory(WISH);
        assertTrue(policy.exclusive(), this::reason);
        memory(FITS);
        assertFalse(policy.exclusive(), this::reason);
        assertTrue(reason().startsWith("running freely: measuring"), this::reason);
    }
}
