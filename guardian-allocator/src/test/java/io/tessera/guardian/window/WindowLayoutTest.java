package io.tessera.guardian.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class WindowLayoutTest {
    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;

    @Property(tries = 300)
    void theLeastWindowThatHoldsItInFewMappings(@ForAll @LongRange(min = 1, max = 3L << 40) long bytes,
            @ForAll boolean hostPart, @ForAll @IntRange(min = 12, max = 27) int granularityLog2) {
        WindowLayout layout = WindowLayout.holding(bytes, hostPart, 1L << granularityLog2);
        assertEquals(1, Long.bitCount(layout.sizeBytes()));
        assertTrue(layout.devicePartBytes() >= bytes);
        assertTrue(layout.sizeBytes() == WindowLayout.MIN_SIZE_BYTES || layout.devicePartBytes() / 2 < bytes
                || layout.sizeBytes() / 2 - Math.min(layout.sizeBytes() / 8, 64 * GIB) < bytes, "half would do");
        long slot = layout.slotBytes();
        assertTrue(slot >= 2 * MIB && slot <= 128 * MIB && Long.bitCount(slot) == 1);
        assertEquals(0, slot % layout.granularityBytes());
        assertEquals(0, layout.devicePartBytes() % slot);
        assertEquals(0, WindowLayout.GUARD_BYTES % slot);
        assertEquals(layout.footprintBytes(), layout.slots() * slot);
        assertTrue(layout.slots() <= WindowLayout.MAPPINGS_AIMED_AT || slot == 128 * MIB);
        assertEquals(layout.hostPartOffset() + layout.hostPartBytes(), layout.sizeBytes());
    }

    @Test
    void aWholeH200() {
        WindowLayout layout = WindowLayout.holding(141 * GIB, true, 2 * MIB);
        assertEquals(256 * GIB, layout.sizeBytes());
        assertEquals(64 * GIB, layout.hostPartBytes());
        assertEquals(128 * MIB, layout.slotBytes());
        assertEquals(2688, layout.slots());
    }

    @Test
    void theLeastWindow() {
        WindowLayout layout = WindowLayout.holding(1, true, 2 * MIB);
        assertEquals(4 * GIB, layout.sizeBytes());
        assertEquals(GIB, layout.hostPartBytes());
        assertEquals(32 * MIB, layout.slotBytes());
        assertEquals(0, WindowLayout.holding(1, false, 2 * MIB).hostPartBytes());
    }

    @Test
    void whatIsNoWindowIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new WindowLayout(3 * GIB, 0, 2 * MIB));
        assertThrows(IllegalArgumentException.class, () -> new WindowLayout(2 * GIB, 0, 2 * MIB));
        assertThrows(IllegalArgumentException.class, () -> new WindowLayout(4 * GIB, 4 * GIB, 2 * MIB));
        assertThrows(IllegalArgumentException.class, () -> new WindowLayout(4 * GIB, 2 * MIB, 2 * MIB), "no whole slot");
        assertThrows(IllegalArgumentException.class, () -> new WindowLayout(4 * GIB, 0, 256 * MIB));
        assertThrows(IllegalArgumentException.class, () -> new WindowLayout(4 * GIB, 0, 3 * MIB));
        assertThrows(IllegalArgumentException.class, () -> WindowLayout.holding(8L << 40, true, 2 * MIB));
        assertThrows(IllegalArgumentException.class, () -> WindowLayout.holding(0, true, 2 * MIB));
    }

    @Test
    void rangesThatOverflowAreOutside() {
        WindowPlace place = new WindowPlace(WindowSpace.STANDARD_BASE, 4 * GIB);
        assertTrue(place.contains(place.baseAddress(), 4 * GIB));
        assertTrue(place.contains(place.endAddress(), 0));
        assertFalse(place.contains(place.baseAddress(), 4 * GIB + 1));
        assertFalse(place.contains(place.baseAddress() - 1, 1));
        assertFalse(place.contains(place.baseAddress() + 1, -1));
        assertFalse(place.contains(place.baseAddress() + 1, Long.MIN_VALUE));
        assertFalse(place.contains(place.baseAddress() + 16, Long.MAX_VALUE));
        for (long address : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE + place.baseAddress()}) {
            assertFalse(place.contains(address, 1), Long.toHexString(address));
        }
    }
}
