package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HostSharesTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long STEP = 256 * MIB;
    /** The largest chunk of a client. */
    private static final long CHUNK = 64 * MIB;

    /** Two servers on an H200 stood still: one had to give up 4 MiB, and had host memory for 4 MiB, not for a whole chunk. */
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

    /** In a random walk of the model, targets of this client changed in every cycle: 4 of its 5 GiB were off the device, 3 pinned and 1 pageable. */
    @Test
    void whatIsAskedForSettlesWhateverTheGroupGrants() {
        for (long boundBytes : new long[] {Long.MAX_VALUE, 6 * GIB, 9 * GIB / 2, 17 * GIB / 4, 4 * GIB, 3 * GIB, 2 * GIB, 0}) {
            List<Long> told = new ArrayList<>();
            long pinnedTarget = 4 * GIB;
            for (int i = 0; i < 8; i++) {
                long pinned = HostShares.shortOfPinned(5 * GIB, 4 * GIB, 0, STEP);
                long pageable = HostShares.besidePinned(GIB, 4 * GIB, Math.min(pinned, pinnedTarget), STEP);
                long granted = Math.min(boundBytes, pinned + pageable);
                pinnedTarget = HostShares.pinnedWithin(granted, pinned, pageable, 3 * GIB, GIB);
                told.add(pinnedTarget);
                assertTrue(pinnedTarget <= granted);
                assertTrue(granted < pinned + pageable || pinnedTarget == pinned, "the group takes nothing away");
            }
            assertEquals(1, Set.copyOf(told.subList(4, 8)).size(), told::toString);
        }
    }
}
