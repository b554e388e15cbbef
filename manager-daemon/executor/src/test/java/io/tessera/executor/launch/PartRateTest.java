package io.tessera.executor.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PartRateTest {
    private static final long MS = 1_000_000L;

    private final PartRate rate = new PartRate();

    private double blocksPerMs() {
        return MS / rate.blockNs();
    }

    @Test
    void whatWasBeforeTheFirstPartIsNotCounted() {
        rate.begin(0);
        assertFalse(rate.done(100, 90 * MS));
        assertTrue(rate.done(100, 91 * MS));
        assertEquals(100, blocksPerMs());
    }

    @Test
    void partsThatEndInOneLookShowNothing() {
        rate.begin(0);
        assertFalse(rate.done(100, 90 * MS));
        assertFalse(rate.done(100, 90 * MS));
        assertTrue(rate.done(100, 91 * MS));
        assertEquals(100, blocksPerMs());
        assertTrue(rate.done(100, 91 * MS), "the second of two, when it is known since when they ran");
        assertEquals(175 / 0.75, blocksPerMs(), 1e-6);
    }

    /** Seen on an H200: while memory was mapped, the first part was done after 97 ms, of which it ran two. */
    @Test
    void aPauseIsSoonForgotten() {
        rate.begin(MS);
        rate.done(4096, 98 * MS);
        for (int part = 1; part <= 20; part++) {
            rate.done(1024, (98 + part) * MS);
        }
        assertEquals(1024, blocksPerMs(), 100);
    }

    @Test
    void anEvenRateStaysAsItIs() {
        rate.begin(MS);
        for (int part = 1; part <= 1000; part++) {
            rate.done(1024, (1 + part) * MS);
            assertEquals(1024, blocksPerMs(), 1e-6);
        }
    }
}
