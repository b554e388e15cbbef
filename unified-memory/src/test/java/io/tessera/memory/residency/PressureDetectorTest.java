package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When memory makes clients take turns, and how soon both changes are noticed. */
class PressureDetectorTest {
    private static final long MS = 1_000_000L;
    private static final long GIB = 1L << 30;
    private static final long STEP_NS = 250 * MS;

    private final PressureDetector detector = new PressureDetector();
    private long nowNs;
    private long needed;
    private long managed;

    /** Lets time pass. */
    private Pressure run(long ns) {
        Pressure last = null;
        for (long end = nowNs + ns; nowNs < end;) {
            nowNs += STEP_NS;
            last = detector.observe(new PressureSample(16 * GIB, GIB, needed, managed), nowNs);
            assertEquals(last.kind() != Pressure.Kind.NONE, last.turns());
        }
        return last;
    }

    @Test
    void whatHasToBeResidentAndDoesNotFitForcesTurnsAtOnceAndCeasesWithinASecond() {
        needed = 12 * GIB;
        assertFalse(run(STEP_NS).turns());
        needed = 16 * GIB;
        Pressure pressure = run(STEP_NS);
        assertEquals(Pressure.Kind.SHORT, pressure.kind());
        assertEquals("memory is short: what has to be resident is 17.00 GiB of 16.00 GiB", pressure.reason());
        needed = 15 * GIB;
        assertTrue(run(STEP_NS).turns(), "fits, but barely");
        needed = 16 * GIB;
        run(STEP_NS);
        needed = 15 * GIB;
        assertFalse(run(1_000 * MS).turns());
        needed = 16 * GIB;
        run(STEP_NS);
        needed = 10 * GIB;
        assertFalse(run(STEP_NS).turns(), "fits with room to spare");
    }

    @Test
    void managedMemoryThatDoesNotFitIsAnotherKind() {
        managed = 10 * GIB;
        assertEquals("memory fits: clients have 11.00 GiB of 16.00 GiB", run(STEP_NS).reason());
        managed = 30 * GIB;
        Pressure pressure = run(STEP_NS);
        assertEquals(Pressure.Kind.OVERLAPPING, pressure.kind());
        assertEquals("managed memory is short: clients have 31.00 GiB of 16.00 GiB", pressure.reason());
        needed = 16 * GIB;
        assertEquals(Pressure.Kind.SHORT, run(STEP_NS).kind());
        needed = 0;
        assertEquals(Pressure.Kind.OVERLAPPING, run(STEP_NS).kind());
        managed = 15 * GIB;
        assertEquals(Pressure.Kind.OVERLAPPING, run(STEP_NS).kind(), "fits, but barely");
        assertEquals(Pressure.Kind.NONE, run(750 * MS).kind());
    }
}
