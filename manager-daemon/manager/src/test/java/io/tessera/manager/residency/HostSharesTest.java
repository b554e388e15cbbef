package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HostSharesTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long STEP = 256 * MIB;
    /** The largest that a client makes. */
    private static final long CHUNK = 64 * MIB;

    /** Two servers on an H200 stood still: one had to give up 4 MiB, and had host memory for 4 MiB, not for a chunk. */
    @Test
    void whoIsToGiveUpPartOfAChunkHasHostMemoryForAllOfIt() {
        long offBytes = 72 * GIB;
        long pinnedBytes = 62 * GIB;
        long outBytes = offBytes + 4 * MIB;
        long pinned = HostShares.shortOfPinned(105 * GIB, outBytes, 0, STEP);
        long pageable = HostShares.besidePinned(43 * GIB, outBytes, pinnedBytes, STEP);
        assertTrue(pinnedBytes + pageable >= offBytes + CHUNK, () -> "pageable: " + pageable / MIB + " MiB");
        assertTrue(pinned >= offBytes + CHUNK, () -> "pinned: " + pinned / MIB + " MiB");
    }

    @Test
    void nobodyGetsMoreThanItAskedFor() {
        assertEquals(10 * MIB, HostShares.shortOfPinned(10 * MIB, 8 * MIB, 0, STEP));
        assertEquals(3 * MIB, HostShares.besidePinned(3 * MIB, 8 * MIB, 5 * MIB, STEP));
    }

    @Test
    void whoseMemoryIsOnTheDeviceGetsWhatIsLeft() {
        assertEquals(7 * MIB, HostShares.shortOfPinned(GIB, 0, 7 * MIB, STEP));
        assertEquals(0, HostShares.shortOfPinned(GIB, 0, -7 * MIB, STEP));
        assertEquals(0, HostShares.besidePinned(GIB, 0, 0, STEP));
    }
}
