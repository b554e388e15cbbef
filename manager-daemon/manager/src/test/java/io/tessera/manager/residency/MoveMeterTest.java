package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.memory.residency.MoveRates;
import org.junit.jupiter.api.Test;

class MoveMeterTest {
    private static final long GIB = 1L << 30;

    private final MoveMeter meter = new MoveMeter();
    private final MoveMeter.Seen one = new MoveMeter.Seen();

    @Test
    void theFirstMeasurementTakesThePlaceOfWhatWasAssumed() {
        meter.in(one, 4 * GIB, 0, 1_000_000_000L);
        assertEquals(4.0 * GIB, meter.rates().inBytesPerSecond(), 1);
        assertEquals(MoveRates.pinned().outBytesPerSecond(), meter.rates().outBytesPerSecond());
    }

    @Test
    void bytesWithoutTheirTimeAreNotMeasuredYet() {
        meter.in(one, 2 * GIB, 0, 0);
        assertEquals(MoveRates.pinned(), meter.rates(), "the move is under way");
        meter.in(one, 4 * GIB, 0, 2_000_000_000L);
        assertEquals(2.0 * GIB, meter.rates().inBytesPerSecond(), 1);
    }

    @Test
    void laterOnesAreMixedIn() {
        meter.out(one, 4 * GIB, 0, 1_000_000_000L);
        meter.out(one, 12 * GIB, 0, 2_000_000_000L);
        assertEquals(5.0 * GIB, meter.rates().outBytesPerSecond(), GIB / 100.0);
    }

    @Test
    void smallMovesAreMeasuredTogether() {
        for (long moves = 1; moves <= 63; moves++) {
            meter.in(one, moves << 20, 0, moves * 1_000_000L);
            assertEquals(MoveRates.pinned(), meter.rates());
        }
        meter.in(one, 64 << 20, 0, 64_000_000L);
        assertEquals(1000.0 * (1 << 20), meter.rates().inBytesPerSecond(), 1);
    }

    @Test
    void nonsenseSaysNothing() {
        meter.in(one, -5, 0, 7);
        meter.in(one, Long.MAX_VALUE, 0, -7);
        assertEquals(MoveRates.pinned(), meter.rates());
    }

    @Test
    void movesOfWhichLittleIsCopiedSayHowFastPagesChange() {
        meter.in(one, 2 * GIB, 40 * GIB, 150_000_000L);
        MoveRates usual = MoveRates.pinned();
        assertEquals(usual.inBytesPerSecond(), meter.rates().inBytesPerSecond());
        double before = usual.changedBytesPerSecond();
        assertEquals(before + 0.25 * (42.0 * GIB / 0.15 - before), meter.rates().changedBytesPerSecond(), before / 1e6);
        MoveMeter.Seen another = new MoveMeter.Seen();
        double after = meter.rates().changedBytesPerSecond();
        meter.in(another, 2 * GIB, 5 * GIB, 150_000_000L);
        assertEquals(after, meter.rates().changedBytesPerSecond(), "two sevenths were copied");
        meter.in(one, 6 * GIB, 41 * GIB, 1_150_000_000L);
        assertEquals(4.0 * GIB, meter.rates().inBytesPerSecond(), 1);
    }
}
