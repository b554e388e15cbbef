package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients whose process is stopped while they are to stop, under the policy {@code extend}. */
class StoppedClientsTest extends SchedulerSteps {
    private static final ScheduleSettings SETTINGS = ScheduleSettings.defaults().withQuantumNs(100 * MS);

    StoppedClientsTest() {
        super(SETTINGS, SchedulerMode.ON);
    }

    @Test
    void extendPassesOverAClientThatIsStoppedUntilItAnswers() {
        firstHoldsOthersWait();
        scheduler.wants(1, now(), now());
        port.stopped.add(1L);
        assertEquals(List.of("1 CLOSED@2"), after(100));
        assertEquals(List.of(), after(500));
        assertEquals(List.of("2 GRANTED@1"), after(500));
        assertEquals(List.of(1L), port.passedOver);
        acks(2, 1, AckState.OPEN);
        scheduler.wants(2, 0, now());
        after(100);
        assertEquals(List.of("3 GRANTED@1"), acks(2, 2, AckState.CLOSED));
        acks(3, 1, AckState.OPEN);
        scheduler.wants(3, 0, now());
        assertEquals(List.of(), after(10_000), "a client that is stopped waits for nothing");
        port.stopped.clear();
        assertEquals(List.of("3 CLOSED@2"), acks(1, 2, AckState.CLOSED), "it answers, and its turn comes");
        assertEquals(List.of("1 GRANTED@3"), acks(3, 2, AckState.CLOSED));
        assertEquals(List.of(), port.undrained);
    }

    @Test
    void whoWasStoppedForAMomentIsNotPassedOver() {
        firstHoldsOthersWait();
        port.stopped.add(1L);
        after(100);
        after(500);
        port.stopped.clear();
        assertEquals(List.of(), after(500));
        port.stopped.add(1L);
        assertEquals(List.of(), after(500));
        assertEquals(List.of("2 GRANTED@1"), after(500));
    }

    /** Only the client can bring its memory; otherwise others would wait for it as for memory that comes slowly. */
    @Test
    void whoIsStoppedBeforeItsMemoryIsThereIsPassedOverWithinASecond() {
        firstHoldsOthersWait();
        scheduler.movable(2);
        after(100);
        port.stopped.add(2L);
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
        assertEquals(List.of(), after(500));
        assertEquals(now() + 500 * MS, scheduler.nextDeadlineNs());
        assertEquals(List.of(), after(500));
        assertTrue(scheduler.nextDeadlineNs() <= now(), "its turn is over");
        assertEquals(List.of("2 CLOSED@2", "3 GRANTED@1"), after(0));
        assertEquals(List.of(2L), port.passedOver);
    }

    @Test
    void whoIsStoppedForAMomentBeforeItsMemoryIsThereKeepsItsTurn() {
        firstHoldsOthersWait();
        scheduler.movable(2);
        after(100);
        port.stopped.add(2L);
        acks(1, 2, AckState.CLOSED);
        after(500);
        port.stopped.clear();
        assertEquals(List.of(), after(500));
        acks(2, 1, AckState.OPEN);
        assertEquals(List.of("2 CLOSED@2"), after(100), "its turn has its whole length");
    }
}
