package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LaunchableTest {
    private final Launchable kernel = new Launchable(1, 2, "k", null, null, null, 0);

    @Test
    void nothingIsKnownOfAKernelThatWasNotSlow() {
        assertEquals(0, kernel.expectedNs(1L << 30));
        assertTrue(kernel.isUnmeasured());
    }

    @Test
    void aLargerGridOfASlowKernelTakesLonger() {
        kernel.slow(1000, 20_000_000);
        assertEquals(20_000_000, kernel.expectedNs(1));
        assertEquals(20_000_000_000L, kernel.expectedNs(1_000_000));
        assertTrue(kernel.isUnmeasured());
    }

    @Test
    void theSlowestOfTheTimedLaunchesCounts() {
        kernel.timed(1000, 20_000_000);
        kernel.timed(2000, 10_000_000);
        assertEquals(2, kernel.timedLaunches());
        assertEquals(20_000_000_000L, kernel.expectedNs(1_000_000));
        assertFalse(kernel.isUnmeasured());
    }

    @Test
    void partsShowHowLongABlockTakes() {
        kernel.slow(1000, 20_000_000);
        kernel.took(1000);
        assertEquals(1_000_000_000L, kernel.expectedNs(1_000_000));
        assertFalse(kernel.isUnmeasured());
    }
}
