package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When memory makes clients take turns, and how soon that is noticed both ways. */
class PressureDetectorTest {
    private static final long MS = 1_000_000L;
    private static final long GIB = 1L << 30;
    private static final long STEP_NS = 250 * MS;
    private static final MoveRates RATES = MoveRates.faulted();

    private final PressureDetector detector = new PressureDetector();
    private long nowNs;
    private long needed;
    private long managed;
    private long workingSet;
    private double faulted;
    private double submissions;
    private long changes;
    private boolean turns;
    private Pressure last;

    /** Lets time pass with so many faulted bytes and submissions a second. */
    private Pressure run(long ns, double faultsPerSecond, double ratePerSecond) {
        for (long end = nowNs + ns; nowNs < end;) {
            nowNs += STEP_NS;
            faulted += faultsPerSecond * STEP_NS / 1e9;
            submissions += ratePerSecond * STEP_NS / 1e9;
            last = detector.observe(new PressureSample(16 * GIB, GIB, needed, managed, workingSet, (long) faulted, 0,
                    (long) submissions, changes), turns, RATES, nowNs);
            turns = last.turns();
        }
        return last;
    }

    @Test
    void whatHasToBeResidentAndDoesNotFitForcesTurnsAtOnceAndCeasesWithinASecond() {
        needed = 12 * GIB;
        assertFalse(run(STEP_NS, 0, 100).turns());
        needed = 16 * GIB;
        Pressure pressure = run(STEP_NS, 0, 100);
        assertEquals(Pressure.Kind.SHORT, pressure.kind());
        assertEquals("memory is short: what has to be resident is 17.00 GiB of 16.00 GiB", pressure.reason());
        needed = 15 * GIB;
        assertTrue(run(STEP_NS, 0, 100).turns(), "fits, but barely");
        needed = 16 * GIB;
        run(STEP_NS, 0, 100);
        needed = 15 * GIB;
        assertFalse(run(1_000 * MS, 0, 100).turns());
        needed = 16 * GIB;
        run(STEP_NS, 0, 100);
        needed = 10 * GIB;
        assertFalse(run(STEP_NS, 0, 100).turns(), "fits with room to spare");
    }

    @Test
    void workingSetsThatFitRunFreelyThoughTheirMemoryDoesNot() {
        managed = 30 * GIB;
        workingSet = 10 * GIB;
        assertFalse(run(2_000 * MS, 0, 100).turns());
        assertEquals("working sets fit: 11.00 GiB of 16.00 GiB", last.reason());
        workingSet = 20 * GIB;
        assertEquals(Pressure.Kind.OVERLAPPING, run(STEP_NS, 0, 100).kind());
    }

    @Test
    void thrashingIsSeenWithinASecondThoughSizesDoNotShowIt() {
        managed = 30 * GIB;
        workingSet = 10 * GIB;
        run(2_000 * MS, 0, 100);
        Pressure pressure = run(1_000 * MS, 5 * GIB, 20);
        assertEquals(Pressure.Kind.THRASHING, pressure.kind());
        assertTrue(pressure.reason().startsWith("thrashing: "), pressure.reason());
        assertTrue(pressure.reason().contains("% of what they do without"), pressure.reason());
    }

    @Test
    void trafficThatCostsNothingIsNoThrashingAndNeitherIsLittleTraffic() {
        managed = 30 * GIB;
        workingSet = 10 * GIB;
        run(2_000 * MS, 0, 100);
        assertFalse(run(5_000 * MS, 5 * GIB, 95).turns(), "as much done as without");
        assertFalse(run(5_000 * MS, GIB, 20).turns(), "a slower phase with a tenth of the bus");
    }

    @Test
    void whereProgressIsUnknownOnlyAFullBusCounts() {
        managed = 30 * GIB;
        workingSet = 10 * GIB;
        assertFalse(run(3_000 * MS, 4 * GIB, 20).turns());
        assertTrue(run(1_000 * MS, 6 * GIB, 20).turns());
    }

    @Test
    void thrashingIsTriedAgainLessAndLessOftenAndForgottenWhenClientsChange() {
        managed = 30 * GIB;
        workingSet = 10 * GIB;
        assertTrue(run(1_500 * MS, 8 * GIB, 20).turns());
        int tries = 0;
        boolean before = true;
        for (int step = 0; step < 600 * 4; step++) {
            run(STEP_NS, turns ? 0 : 8 * GIB, 20);
            tries += before && !turns ? 1 : 0;
            before = turns;
        }
        assertTrue(tries >= 4 && tries <= 7, tries + " tries within ten minutes");
        changes++;
        assertFalse(run(STEP_NS, 0, 20).turns());
    }

    @Test
    void thrashingEndsAtOnceWhenEverythingFits() {
        managed = 30 * GIB;
        workingSet = 10 * GIB;
        run(1_500 * MS, 8 * GIB, 20);
        assertTrue(turns);
        managed = 10 * GIB;
        assertFalse(run(STEP_NS, 0, 20).turns());
    }
}
