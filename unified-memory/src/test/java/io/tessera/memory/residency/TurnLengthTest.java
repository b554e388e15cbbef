package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.memory.residency.QuantumChooser.Participant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lengths of turns, and the time after which an idle turn goes back. */
class TurnLengthTest {
    private static final long MS = 1_000_000L;
    private static final long GIB = 1L << 30;
    private static final MoveRates RATES = new MoveRates(50 * GIB, 50 * GIB);
    private final QuantumChooser chooser = QuantumChooser.defaults();

    private static List<Participant> equal(int count, long needed) {
        return new ArrayList<>(Collections.nCopies(count, new Participant(needed, 0)));
    }

    @Test
    void nothingIsStretchedWhileAllFits() {
        assertEquals(250 * MS, chooser.quantumNs(250 * MS, false, 16 * GIB, equal(2, 8 * GIB), RATES));
    }

    @Test
    void anExplicitQuantumIsTakenAsItIs() {
        assertEquals(20 * MS, chooser.quantumNs(20 * MS, true, 16 * GIB, equal(2, 15 * GIB), RATES));
    }

    @Test
    void movingTakesAtMostTheShareWithRoomForTheRestOfAHandover() {
        // 15 + 15 - 16 GiB come in at every hand-over: 0.28 s, which is 2.5 % of 11.2 s.
        assertEquals(14 * GIB, QuantumChooser.handover(16 * GIB, equal(2, 15 * GIB)).changedBytes());
        assertEquals(11_200 * MS, chooser.quantumNs(250 * MS, false, 16 * GIB, equal(2, 15 * GIB), RATES));
    }

    @Test
    void aDeviceOfFullSizeReachesTheLongestTurn() {
        long capacity = 141 * GIB;
        assertEquals(30_000 * MS, chooser.quantumNs(250 * MS, false, capacity, equal(2, capacity * 96 / 100), RATES));
    }

    @Test
    void threeHalvesMoveOneHalfEveryOtherTurn() {
        // Belady's choice: of two that are out of the device in a round, each returns once, half a device each.
        List<Participant> halves = equal(3, 8);
        assertEquals(4, QuantumChooser.handover(16, halves).changedBytes(), 1);
    }

    @Test
    void guaranteedMemoryDoesNotMove() {
        List<Participant> participants = List.of(new Participant(10, 6), new Participant(10, 0));
        assertEquals(4, QuantumChooser.handover(16, participants).changedBytes());
        List<Participant> both = List.of(new Participant(10, 6), new Participant(10, 10));
        assertEquals(2, QuantumChooser.handover(16, both).changedBytes());
    }

    @Test
    void ratesAreLearnedFromLongMovesOnly() {
        MoveRates rates = new MoveRates(10e9, 10e9);
        assertEquals(rates, rates.measured(1 << 20, 1, 0, 0));
        MoveRates learned = rates;
        for (int i = 0; i < 20; i++) {
            learned = learned.measured(GIB, GIB / 50, GIB, GIB / 40);
        }
        assertEquals(50e9, learned.inBytesPerSecond(), 1e9);
        assertEquals(40e9, learned.outBytesPerSecond(), 1e9);
        assertEquals(1e9, new MoveRates(10e9, 5e9).moveNs(10_000_000_000L, 1_000_000_000L), 1);
        assertThrows(IllegalArgumentException.class, () -> new MoveRates(0, 1));
    }

    @Test
    void aTurnWithNothingToMoveGoesBackAtOnce() {
        assertEquals(MS, new IdleRelease(MS).idleReleaseNs(1, 0));
    }

    @Test
    void longPausesAreUsedSoonerEachTimeAndAShortOneTakesThatBack() {
        IdleRelease release = new IdleRelease(MS);
        long moveNs = 300 * MS;
        assertEquals(moveNs, release.idleReleaseNs(1, moveNs), "nothing is known: as long as the move takes");
        long nowNs = 0;
        for (int i = 0; i < 12; i++) {
            release.released(1, nowNs);
            nowNs += 2_000 * MS;
            release.wanted(1, moveNs, nowNs);
        }
        assertEquals(MS, release.idleReleaseNs(1, moveNs));
        assertEquals(moveNs, release.idleReleaseNs(2, moveNs), "another client's pauses");
        release.released(1, nowNs);
        release.wanted(1, moveNs, nowNs + 310 * MS);
        assertEquals(MS, release.idleReleaseNs(1, moveNs), "a pause just longer than the move");
        release.released(1, nowNs);
        release.wanted(1, moveNs, nowNs + 10 * MS);
        assertEquals(moveNs, release.idleReleaseNs(1, moveNs), "a pause of 11 ms");
        release.wanted(1, moveNs, nowNs + 2_000 * MS);
        assertEquals(moveNs, release.idleReleaseNs(1, moveNs), "a want without a release says nothing");
        release.released(1, nowNs);
        release.wanted(1, moveNs, nowNs + 2_000 * MS);
        assertEquals(moveNs / 2, release.idleReleaseNs(1, moveNs));
        release.released(1, nowNs);
        release.released(1, nowNs + 1_990 * MS);
        release.wanted(1, moveNs, nowNs + 2_000 * MS);
        assertEquals(moveNs / 4, release.idleReleaseNs(1, moveNs), "its memory went later than its turn");
        release.left(1);
        assertEquals(moveNs, release.idleReleaseNs(1, moveNs));
    }

    @Test
    void clientsAreAdmittedWhileDeviceAndHostHoldThem() {
        SwapAdmission admission = new SwapAdmission(16 * GIB, 2 * GIB, 10 * GIB);
        assertEquals(24 * GIB, admission.leasableBytes());
        assertTrue(admission.ask(20 * GIB, 4 * GIB, 0, 4 * GIB) instanceof SwapAdmission.Admitted);
        assertTrue(admission.ask(21 * GIB, 4 * GIB, 0, 4 * GIB) instanceof SwapAdmission.Waits);
        assertTrue(admission.ask(4 * GIB, 4 * GIB, 0, 11 * GIB) instanceof SwapAdmission.Refused, "more than the device");
        assertTrue(admission.ask(4 * GIB, 4 * GIB, 3 * GIB, 8 * GIB) instanceof SwapAdmission.Refused, "guaranteed to others");
    }

    @Test
    void whatIsZeroChangesHandsWithoutACopy() {
        Participant full = new Participant(60 * GIB, 0);
        Participant mostlyZero = new Participant(60 * GIB, 0, 3 * GIB);
        QuantumChooser.Handover handover = QuantumChooser.handover(80 * GIB, List.of(mostlyZero, mostlyZero));
        assertEquals(40 * GIB, handover.changedBytes());
        assertEquals(2 * GIB, handover.copiedBytes());
        assertEquals(21 * GIB, QuantumChooser.handover(80 * GIB, List.of(full, mostlyZero)).copiedBytes());
        assertEquals(1e9 * 40 / 50, RATES.handoverNs(40 * GIB, 40 * GIB), 1);
        assertEquals(1e9 * 40 * GIB / 375e9, RATES.handoverNs(40 * GIB, 2 * GIB), 1, "pages take longer than the copy");
        assertThrows(IllegalArgumentException.class, () -> new Participant(1, 0, 2));
    }
}
