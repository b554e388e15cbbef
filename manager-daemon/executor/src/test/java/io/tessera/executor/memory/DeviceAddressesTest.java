package io.tessera.executor.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.window.PlacementAnswer;
import io.tessera.guardian.window.WindowSpace;
import org.junit.jupiter.api.Test;

/** No address is two devices', and executors place memory in their own part alone. */
class DeviceAddressesTest {
    private static final long FIRST = 0x2000_0000_0000L;
    private static final long END = 0x4000_0000_0000L;
    private static final long WINDOW_BYTES = 1L << 40;

    @Test
    void oneDeviceHasTheWholeRange() {
        assertEquals(new DeviceAddresses(FIRST, END), DeviceAddresses.of(0, 1));
    }

    @Test
    void partsOfAnyNumberOfDevicesAreDisjointAndEqual() {
        for (int count = 1; count <= 16; count++) {
            long bytes = DeviceAddresses.of(0, count).end() - FIRST;
            assertTrue(bytes * count <= END - FIRST && bytes * count > (END - FIRST) / 2, count + " devices");
            for (int ordinal = 0; ordinal < count; ordinal++) {
                assertEquals(new DeviceAddresses(FIRST + ordinal * bytes, FIRST + (ordinal + 1) * bytes),
                        DeviceAddresses.of(ordinal, count));
            }
        }
        assertThrows(IllegalArgumentException.class, () -> DeviceAddresses.of(2, 2));
        assertThrows(IllegalArgumentException.class, () -> DeviceAddresses.of(0, 17));
    }

    @Test
    void aRangeOverTheEndIsNotInside() {
        DeviceAddresses addresses = DeviceAddresses.of(1, 2);
        assertTrue(addresses.holds(addresses.first(), addresses.end() - addresses.first()));
        assertFalse(addresses.holds(addresses.first() - 1, 1));
        assertFalse(addresses.holds(addresses.end() - 1, 2));
        assertFalse(addresses.holds(addresses.end(), 0));
        assertFalse(addresses.holds(addresses.first(), -1));
    }

    @Test
    void windowsLieInTheDevicesOwnPart() {
        for (int ordinal = 0; ordinal < 2; ordinal++) {
            DeviceAddresses addresses = DeviceAddresses.of(ordinal, 2);
            WindowSpace space = new WindowSpace(addresses.first(), addresses.end() - addresses.first());
            int placed = 0;
            while (space.allocate(WINDOW_BYTES) instanceof PlacementAnswer.Placed found) {
                long from = found.place().lowerGuardAddress();
                assertTrue(addresses.holds(from, found.place().endOfUpperGuard() - from), found.toString());
                placed++;
            }
            assertTrue(placed > 0);
        }
    }
}
