package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.ClientOutlook;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.TenantTerms;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Requirements of memory that moves on the schedule, step by step, in milliseconds. */
class MemorySchedulingTest extends SchedulerSteps {
    private static final MemoryVerdict SHORT = new MemoryVerdict(true, true, true, 3000 * MS, "memory is short");
    private static final MemoryVerdict FITS = new MemoryVerdict(true, false, false, 0, "memory fits");

    MemorySchedulingTest() {
        super(ScheduleSettings.defaults(), SchedulerMode.OFF);
    }

    private List<String> memory(MemoryVerdict verdict) {
        scheduler.memory(verdict, now());
        return port.take();
    }

    private List<String> park(long client, boolean parked) {
        scheduler.parked(client, parked, now());
        return port.take();
    }

    /** Two clients, both FREE at epoch 1 and open. */
    private void twoRunFreely() {
        for (long client = 1; client <= 2; client++) {
            scheduler.joined(client, "p" + client, TenantTerms.DEFAULT, now());
            scheduler.movable(client);
            port.take();
            acks(client, 1, AckState.OPEN);
        }
    }

    @Test
    void whoCannotBeResidentTogetherTakesTurnsAlsoInModeOff() {
        twoRunFreely();
        assertEquals(List.of("1 CLOSED@2", "2 CLOSED@2"), memory(SHORT));
        assertEquals("turns: memory is short", scheduler.snapshot(now()).reason());
        assertEquals(3000 * MS, scheduler.snapshot(now()).quantumNs());
        acks(1, 2, AckState.CLOSED);
        acks(2, 2, AckState.CLOSED);
        assertEquals(List.of("1 GRANTED@3"), wants(1));
        assertEquals(List.of("1 FREE@4", "2 FREE@3"), memory(FITS));
        assertEquals("set to off: everybody runs at once", scheduler.snapshot(now()).reason());
    }

    @Test
    void anExplicitQuantumIsRespected() {
        scheduler = make(ScheduleSettings.defaults().withQuantumNs(1000 * MS), SchedulerMode.OFF);
        twoRunFreely();
        memory(SHORT);
        assertEquals(1000 * MS, scheduler.snapshot(now()).quantumNs());
    }

    @Test
    void whatMemoryOnlyWishesIsForAutoToFollow() {
        MemoryVerdict wish = new MemoryVerdict(true, true, false, 0, "working sets are 9 GiB of 8 GiB");
        twoRunFreely();
        assertEquals(List.of(), memory(wish));
        scheduler = make(ScheduleSettings.defaults(), SchedulerMode.AUTO);
        twoRunFreely();
        nowMs += 250;
        port.loads.put(1L, new ClientLoad(10, 0, 0, 0, 0));
        port.loads.put(2L, new ClientLoad(10, 0, 0, 0, 0));
        assertEquals(List.of("1 CLOSED@2", "2 CLOSED@2"), memory(wish));
        assertEquals("turns: working sets are 9 GiB of 8 GiB, to be compared with running freely",
                scheduler.snapshot(now()).reason());
        assertEquals(List.of("1 FREE@3", "2 FREE@3"), memory(FITS));
    }

    @Test
    void aTurnBeginsWhenMemoryIsBack() {
        twoRunFreely();
        memory(SHORT);
        acks(1, 2, AckState.CLOSED);
        acks(2, 2, AckState.CLOSED);
        wants(1);
        wants(2);
        assertEquals(List.of(), after(3500), "its memory is still on its way");
        acks(1, 3, AckState.OPEN);
        scheduler.wants(1, 0, now());
        assertEquals(List.of(), after(2999));
        assertEquals(List.of("1 CLOSED@4"), after(1));
        wants(1);
        assertEquals(List.of("2 GRANTED@3"), acks(1, 4, AckState.CLOSED));
        acks(2, 3, AckState.OPEN);
        assertEquals(now() + 3000 * MS, scheduler.nextDeadlineNs(), "what 1 waited for its memory is not held against it");
    }

    @Test
    void aTurnWhoseMemoryDoesNotComeEnds() {
        twoRunFreely();
        memory(SHORT);
        acks(1, 2, AckState.CLOSED);
        acks(2, 2, AckState.CLOSED);
        wants(1);
        wants(2);
        after(9000);
        scheduler.moved(now());
        assertEquals(List.of(), after(9999), "some came meanwhile");
        assertEquals(List.of("1 CLOSED@4"), after(1));
    }

    @Test
    void whoIsParkedIsClosedAndOthersRunOn() {
        twoRunFreely();
        assertEquals(List.of("2 CLOSED@2"), park(2, true));
        assertTrue(!scheduler.outlook(2, now()).quiet());
        acks(2, 2, AckState.CLOSED);
        ClientOutlook parked = scheduler.outlook(2, now());
        assertTrue(parked.quiet() && !parked.running() && parked.nextTurnNs() == Long.MAX_VALUE);
        assertEquals(List.of(), wants(2), "until it is unparked");
        assertEquals(List.of("2 FREE@3"), park(2, false));
    }

    @Test
    void whoIsParkedInItsTurnGivesItBackAndWaitsForNothing() {
        scheduler = make(ScheduleSettings.defaults(), SchedulerMode.ON);
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        assertEquals(List.of("1 GRANTED@1"), wants(1));
        assertEquals(List.of("1 CLOSED@2"), park(1, true));
        assertEquals(List.of(), acks(1, 2, AckState.CLOSED));
        assertEquals(OptionalLong.empty(), scheduler.snapshot(now()).holder());
        assertEquals(List.of("1 GRANTED@3"), park(1, false), "it still asks");
    }

    @Test
    void theForecastFollowsTheQueue() {
        scheduler = make(ScheduleSettings.defaults().withQuantumNs(100 * MS), SchedulerMode.ON);
        for (long client = 1; client <= 3; client++) {
            scheduler.joined(client, "p" + client, TenantTerms.DEFAULT, now());
        }
        wants(1);
        acks(1, 1, AckState.OPEN);
        scheduler.wants(1, 0, now());
        wants(2);
        wants(3);
        assertEquals(now(), scheduler.outlook(1, now()).nextTurnNs());
        assertEquals(now() + 100 * MS, scheduler.outlook(2, now()).nextTurnNs());
        assertEquals(now() + 200 * MS, scheduler.outlook(3, now()).nextTurnNs());
        assertEquals(ClientOutlook.GONE, scheduler.outlook(4, now()));
    }

    @Test
    void anIdleTurnIsKeptForAsLongAsItsMemoryIsWorth() {
        scheduler = make(ScheduleSettings.defaults(), SchedulerMode.ON);
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        scheduler.joined(2, "p2", TenantTerms.DEFAULT, now());
        wants(1);
        scheduler.idleRelease(1, 700 * MS);
        wants(2);
        assertEquals(700 * MS, port.terms.get(1L).idleReleaseNs());
    }
}
