package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.DrainPolicy;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.schedule.turn.TurnTerms;
import io.tessera.policy.TenantTerms;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Steps through turns with an injected clock, in milliseconds. */
class DeviceSchedulerTest extends SchedulerSteps {
    private static final ScheduleSettings SETTINGS = ScheduleSettings.defaults().withQuantumNs(100 * MS);

    DeviceSchedulerTest() {
        super(SETTINGS, SchedulerMode.ON);
    }

    @Test
    void aClientAloneKeepsItsTurnWithoutAnEnd() {
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        assertEquals(List.of("1 GRANTED@1"), wants(1));
        assertEquals(new TurnTerms(100 * MS, 0, 0, false, false), port.terms.get(1L));
        assertEquals(Long.MAX_VALUE, scheduler.nextDeadlineNs());
        assertEquals(List.of(), after(60_000));
        assertEquals(OptionalLong.of(1), scheduler.snapshot(now()).holder());
    }

    @Test
    void aWaiterMakesTheTurnContendedAndEndsItWithTheQuantum() {
        firstHoldsOthersWait();
        assertEquals(new TurnTerms(100 * MS, 25 * MS, MS, true, false), port.terms.get(1L));
        assertEquals((1000 + 100) * MS, scheduler.nextDeadlineNs());
        assertEquals(List.of(), after(99));
        assertEquals(List.of("1 CLOSED@2"), after(1));
        assertEquals(OptionalLong.empty(), scheduler.snapshot(now()).holder());
        assertEquals(List.of(), acks(1, 2, AckState.DRAINING));
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
    }

    @Test
    void waitersAreServedInTheOrderInWhichTheyAsked() {
        firstHoldsOthersWait();
        after(100);
        wants(1);
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
        scheduler.wants(2, 0, now());
        after(100);
        assertEquals(List.of("3 GRANTED@1"), acks(2, 2, AckState.CLOSED));
        after(100);
        assertEquals(List.of("1 GRANTED@3"), acks(3, 2, AckState.CLOSED));
    }

    @Test
    void aWaiterThatFindsAnOldTurnGetsItAtOnce() {
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        scheduler.joined(2, "p2", TenantTerms.DEFAULT, now());
        wants(1);
        scheduler.wants(1, 0, now());
        after(5000);
        assertEquals(List.of("1 CLOSED@2"), wants(2));
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
        // Time held while no client waited is not charged: its next turn is a whole one.
        wants(1);
        after(100);
        assertEquals(List.of("1 GRANTED@3"), acks(2, 2, AckState.CLOSED));
        wants(2);
        assertEquals(now() + 100 * MS, scheduler.nextDeadlineNs());
    }

    @Test
    void anEarlyReleaseHandsOverAtOnce() {
        firstHoldsOthersWait();
        nowMs += 10;
        assertEquals(List.of("1 CLOSED@2", "2 GRANTED@1"), acks(1, 1, AckState.RELEASED));
        nowMs += 2;
        acks(2, 1, AckState.OPEN);
        DeviceTurns turns = scheduler.snapshot(now());
        assertEquals(1, turns.handovers());
        assertEquals(2 * MS, turns.handoverMedianNs());
        // The late answer to the order that crossed the release changes nothing.
        assertEquals(List.of(), acks(1, 2, AckState.CLOSED));
    }

    @Test
    void aReleaseThatCrossesTheOrderToStopCounts() {
        firstHoldsOthersWait();
        after(100);
        assertEquals(List.of("2 GRANTED@1"), acks(1, 1, AckState.RELEASED));
    }

    @Test
    void answersOutOfProtocolAreNoAnswers() {
        firstHoldsOthersWait();
        assertEquals(List.of(), acks(1, 1, AckState.CLOSED));
        assertEquals(List.of(), acks(1, 7, AckState.RELEASED));
        assertEquals(List.of(), acks(2, 0, AckState.RELEASED));
        after(100);
        assertEquals(List.of(), acks(1, 1, AckState.CLOSED));
        assertEquals(List.of(), acks(1, 2, AckState.RELEASED));
        assertEquals(List.of(), acks(1, 3, AckState.CLOSED));
        assertEquals(List.of(), acks(99, 1, AckState.CLOSED));
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
    }

    @Test
    void nobodyIsGrantedBesideAClientThatTookItsWordBack() {
        firstHoldsOthersWait();
        acks(3, 0, AckState.OPEN);
        after(100);
        assertEquals(List.of(), acks(1, 2, AckState.CLOSED));
        assertEquals(List.of("2 GRANTED@1"), acks(3, 0, AckState.CLOSED));
    }

    @Test
    void theDeathOfTheHolderFreesTheTurn() {
        firstHoldsOthersWait();
        scheduler.left(1, now());
        assertEquals(List.of("2 GRANTED@1"), port.take());
        after(100);
        scheduler.left(2, now());
        assertEquals(List.of("3 GRANTED@1"), port.take());
    }

    @Test
    void theLastWaiterGoesAndTheTurnHasNoEndAnyMore() {
        firstHoldsOthersWait();
        scheduler.left(2, now());
        scheduler.wants(3, 0, now());
        assertFalse(port.terms.get(1L).contended());
        assertEquals(Long.MAX_VALUE, scheduler.nextDeadlineNs());
        assertEquals(List.of(), after(1000));
    }

    @Test
    void anOverrunIsTakenOffTheNextTurn() {
        firstHoldsOthersWait();
        after(100);
        wants(1);
        nowMs += 40;
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
        scheduler.wants(2, 0, now());
        after(100);
        acks(2, 2, AckState.CLOSED);
        after(100);
        assertEquals(List.of("1 GRANTED@3"), acks(3, 2, AckState.CLOSED));
        wants(2);
        assertEquals(now() + 60 * MS, scheduler.nextDeadlineNs());
    }

    @Test
    void aShorterQuantumEndsTheRunningTurnSooner() {
        firstHoldsOthersWait();
        after(10);
        scheduler.quantumNs(20 * MS, now());
        assertEquals(1020 * MS, scheduler.nextDeadlineNs());
        assertEquals(5 * MS, port.terms.get(1L).paceNs());
        assertEquals(List.of("1 CLOSED@2"), after(10));
        assertThrows(IllegalArgumentException.class, () -> scheduler.quantumNs(0, now()));
        assertEquals(20 * MS, scheduler.snapshot(now()).quantumNs());
    }

    @Test
    void offOpensEverybodyTheHolderFirst() {
        firstHoldsOthersWait();
        scheduler.mode(SchedulerMode.OFF, now());
        assertEquals(List.of("1 FREE@2", "2 FREE@1", "3 FREE@1"), port.take());
        assertEquals(Long.MAX_VALUE, scheduler.nextDeadlineNs());
        scheduler.joined(4, "p4", TenantTerms.DEFAULT, now());
        assertEquals(List.of("4 FREE@1"), port.take());
    }

    @Test
    void offWhileDrainingAndOnAgainWaitsForEverybody() {
        firstHoldsOthersWait();
        after(100);
        scheduler.mode(SchedulerMode.OFF, now());
        assertEquals(List.of("1 FREE@3", "2 FREE@1", "3 FREE@1"), port.take());
        for (long client = 2; client <= 3; client++) {
            scheduler.wants(client, 0, now());
        }
        scheduler.mode(SchedulerMode.ON, now());
        assertEquals(List.of("1 CLOSED@4", "2 CLOSED@2", "3 CLOSED@2"), port.take());
        wants(2);
        assertEquals(List.of(), acks(1, 2, AckState.CLOSED));
        assertEquals(List.of(), acks(1, 4, AckState.CLOSED));
        assertEquals(List.of(), acks(2, 2, AckState.CLOSED));
        assertEquals(List.of("2 GRANTED@3"), acks(3, 2, AckState.CLOSED));
    }

    @Test
    void extendLetsAClientThatCannotDrainRunOn() {
        firstHoldsOthersWait();
        after(100);
        assertEquals(now() + 500 * MS, scheduler.nextDeadlineNs(), "it may be stopped");
        assertEquals(List.of(), after(9_999));
        assertEquals(List.of("1 GRANTED@3"), after(1));
        assertEquals(List.of(1L), port.undrained);
        assertEquals(List.of("1 CLOSED@4"), after(100));
        assertEquals(List.of("2 GRANTED@1"), acks(1, 4, AckState.CLOSED));
        assertEquals(List.of(), port.ended);
    }

    @Test
    void extendLetsSeveralThatCannotDrainRunTogether() {
        scheduler.mode(SchedulerMode.OFF, now());
        for (long client = 1; client <= 3; client++) {
            scheduler.joined(client, "p" + client, TenantTerms.DEFAULT, now());
        }
        scheduler.mode(SchedulerMode.ON, now());
        port.take();
        wants(3);
        acks(3, 2, AckState.CLOSED);
        assertEquals(List.of("1 FREE@3", "2 FREE@3"), after(10_000));
        assertEquals(List.of(1L, 2L), port.undrained);
        assertEquals(List.of("1 CLOSED@4", "2 CLOSED@4"), after(100));
        acks(1, 4, AckState.CLOSED);
        assertEquals(List.of("3 GRANTED@3"), acks(2, 4, AckState.CLOSED));
    }

    @Test
    void waitReportsOnceAndWaits() {
        scheduler = make(SETTINGS.withDrainPolicy(DrainPolicy.WAIT));
        firstHoldsOthersWait();
        after(100);
        assertEquals(List.of(), after(10_000));
        assertEquals(Long.MAX_VALUE, scheduler.nextDeadlineNs());
        assertEquals(List.of(), after(100_000));
        assertEquals(List.of(1L), port.undrained);
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
    }

    @Test
    void endEndsTheClientOnce() {
        scheduler = make(SETTINGS.withDrainPolicy(DrainPolicy.END));
        firstHoldsOthersWait();
        after(100);
        after(10_000);
        after(10_000);
        assertEquals(List.of(1L), port.ended);
        scheduler.left(1, now());
        assertEquals(List.of("2 GRANTED@1"), port.take());
    }

    @Test
    void autoWithOneClientNeverWakes() {
        scheduler = new DeviceScheduler(ScheduleSettings.defaults(), port, 0);
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        assertEquals(List.of("1 FREE@1"), port.take());
        assertEquals(Long.MAX_VALUE, scheduler.nextDeadlineNs());
        assertFalse(port.terms.get(1L).sample());
        assertTrue(scheduler.snapshot(now()).reason().startsWith("running freely"));
    }

    @Test
    void aTurnTakenFromAnotherIsPacedFromItsBeginning() {
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        wants(1);
        scheduler.wants(1, 0, now());
        acks(1, 1, AckState.OPEN);
        assertEquals(0, port.terms.get(1L).paceNs(), "it is alone");
        scheduler.joined(2, "p2", TenantTerms.DEFAULT, now());
        assertEquals(100 * MS, port.terms.get(1L).paceNs(), "a client that comes waits for what is queued, a turn at most");
        wants(2);
        assertEquals(25 * MS, port.terms.get(1L).paceNs());
        after(100);
        assertEquals(new TurnTerms(0, 25 * MS, 0, false, false), port.terms.get(1L),
                "it queues no more before it has closed its gate");
        acks(1, 2, AckState.CLOSED);
        assertEquals(25 * MS, port.terms.get(2L).paceNs(), "the first will ask again at once");
        scheduler.wants(2, 0, now());
        acks(2, 1, AckState.OPEN);
        after(200);
        assertEquals(100 * MS, port.terms.get(2L).paceNs(), "but it did not");
        scheduler.left(1, now());
        assertEquals(0, port.terms.get(2L).paceNs());
    }

    @Test
    void autoSamplesWhileTwoAreActiveOnly() {
        scheduler = new DeviceScheduler(ScheduleSettings.defaults(), port, 0);
        scheduler.joined(1, "p1", TenantTerms.DEFAULT, now());
        scheduler.joined(2, "p2", TenantTerms.DEFAULT, now());
        long submissions = 0;
        for (int i = 0; i < 3; i++) {
            submissions += 10;
            port.loads.put(1L, new ClientLoad(submissions, 0, 0, 0, 0));
            port.loads.put(2L, new ClientLoad(submissions, 0, 0, 0, 0));
            after(250);
        }
        assertTrue(port.terms.get(1L).sample() && port.terms.get(2L).sample());
        for (int i = 0; i < 20; i++) {
            port.loads.put(1L, new ClientLoad(submissions += 10, 0, 0, 0, 0));
            after(250);
        }
        assertFalse(port.terms.get(1L).sample() || port.terms.get(2L).sample());
    }

    @Test
    void theDefaultQuantumMakesWholeRoundsFitIntoASecond() {
        ScheduleSettings standard = ScheduleSettings.defaults();
        long[] expectedUs = {250_000, 250_000, 166_666, 250_000, 200_000, 166_666, 142_857, 125_000, 111_111, 100_000};
        for (int clients = 1; clients <= expectedUs.length; clients++) {
            assertEquals(expectedUs[clients - 1], standard.turnNs(clients) / 1000, clients + " clients");
        }
        assertEquals(100 * MS, standard.turnNs(11));
        assertEquals(100 * MS, standard.turnNs(1000));
        assertEquals(250 * MS, standard.withQuantumNs(250 * MS).turnNs(3));
        assertEquals(MS, standard.withQuantumNs(MS).turnNs(1000));
    }

    @Test
    void aThirdClientShortensTurnsUnlessSomebodySetTheQuantum() {
        scheduler = make(ScheduleSettings.defaults());
        firstHoldsOthersWait();
        assertEquals(1_000_000_000L / 6, port.terms.get(1L).quantumNs());
        assertEquals(1000 * MS + 1_000_000_000L / 6, scheduler.nextDeadlineNs());
        scheduler.quantumNs(250 * MS, now());
        // The running turn does not get longer; the next one has the requested length.
        assertEquals(1000 * MS + 1_000_000_000L / 6, scheduler.nextDeadlineNs());
        after(167);
        assertEquals(List.of("2 GRANTED@1"), acks(1, 2, AckState.CLOSED));
        assertEquals(now() + 250 * MS, scheduler.nextDeadlineNs());
    }

    @Test
    void aClientThatAsksNoMoreCountsForASecond() {
        scheduler = make(ScheduleSettings.defaults());
        firstHoldsOthersWait();
        acks(1, 1, AckState.RELEASED);
        scheduler.wants(2, 0, now());
        assertEquals(1_000_000_000L / 6, scheduler.snapshot(now()).quantumNs());
        after(1000);
        acks(2, 2, AckState.CLOSED);
        after(1);
        assertEquals(250 * MS, scheduler.snapshot(now()).quantumNs());
    }

    /** Runs freely for 600 ms, then in turns again; all clients drain at once and ask in the given order. */
    private List<String> freeForAWhile(long... asking) {
        scheduler.mode(SchedulerMode.OFF, now());
        for (long client = 1; client <= 3; client++) {
            scheduler.wants(client, 0, now());
        }
        after(600);
        scheduler.mode(SchedulerMode.ON, now());
        List<ScriptedTurnPort.Order> closed = List.copyOf(port.orders);
        port.take();
        for (long client : asking) {
            wants(client);
        }
        List<String> orders = List.of();
        for (ScriptedTurnPort.Order order : closed) {
            orders = acks(order.clientId(), order.epoch(), AckState.CLOSED);
        }
        return orders;
    }

    @Test
    void turnsGoOnInTheirOrderAfterAWhileOfFreeRunning() {
        firstHoldsOthersWait();
        after(100);
        wants(1);
        acks(1, 2, AckState.CLOSED);
        scheduler.wants(2, 0, now());
        after(100);
        wants(2);
        // Client 2 has drained and 3 was granted: its turn is cut off after 30 ms and later continues with the rest.
        acks(2, 2, AckState.CLOSED);
        after(30);
        assertEquals(List.of("3 GRANTED@4"), freeForAWhile(2, 1, 3));
        assertEquals(now() + 70 * MS, scheduler.nextDeadlineNs());
        after(70);
        assertEquals(List.of("1 GRANTED@5"), acks(3, 5, AckState.CLOSED));
        assertEquals(now() + 100 * MS, scheduler.nextDeadlineNs());
        after(100);
        assertEquals(List.of("2 GRANTED@5"), acks(1, 6, AckState.CLOSED));
    }

    @Test
    void whatATurnOverranIsOwedAcrossAWhileOfFreeRunning() {
        firstHoldsOthersWait();
        after(100);
        wants(1);
        nowMs += 40;
        acks(1, 2, AckState.CLOSED);
        scheduler.left(3, now());
        after(100);
        acks(2, 2, AckState.CLOSED);
        after(5);
        assertEquals(List.of("1 GRANTED@6"), freeForAWhile(2, 1));
        // 40 ms too many in the first turn, 5 ms of this one.
        assertEquals(now() + 55 * MS, scheduler.nextDeadlineNs());
    }

    @Test
    void debtsAreForgottenAfterALongWhileOfFreeRunning() {
        firstHoldsOthersWait();
        after(40);
        scheduler.mode(SchedulerMode.OFF, now());
        after(10_000);
        assertEquals(List.of("1 GRANTED@4"), freeForAWhile(1, 2, 3));
        assertEquals(now() + 100 * MS, scheduler.nextDeadlineNs());
    }
}
