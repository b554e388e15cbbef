package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** Several software GPUs: a driver reaches one of them, counts all, and reports its number. */
class SeveralDevicesTest {
    private static final long MEMORY_BYTES = 64L << 20;

    private static int call(DriverPort port, DriverEntry entry, MemorySegment out, long... more) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment slots = arena.allocate(8L * (more.length + 1), 8);
            slots.setAtIndex(ValueLayout.JAVA_LONG, 0, out.address());
            for (int i = 0; i < more.length; i++) {
                slots.setAtIndex(ValueLayout.JAVA_LONG, i + 1, more[i]);
            }
            return port.call(entry, slots);
        }
    }

    private static String identity(int ordinal, DriverEntry entry) throws DriverUnavailableException {
        try (DriverPort port = new SoftwareDriverProvider().open(new DriverOptions(ordinal, 3, MEMORY_BYTES));
                Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(64, 8);
            assertEquals(0, call(port, DriverEntry.cuDeviceGetCount, out));
            assertEquals(3, out.get(ValueLayout.JAVA_INT, 0));
            assertEquals(0, call(port, DriverEntry.cuDeviceGet, out, ordinal));
            int device = out.get(ValueLayout.JAVA_INT, 0);
            assertEquals(CudaError.INVALID_DEVICE.code(), call(port, DriverEntry.cuDeviceGet, out, (ordinal + 1) % 3));
            if (entry == DriverEntry.cuDeviceGetPCIBusId) {
                assertEquals(0, call(port, entry, out, 64, device));
                return out.getString(0);
            }
            assertEquals(0, call(port, entry, out, device));
            return Long.toHexString(out.get(ValueLayout.JAVA_LONG, 0)) + Long.toHexString(out.get(ValueLayout.JAVA_LONG, 8));
        }
    }

    @Test
    void eachHasANameOfItsOwn() throws Exception {
        assertEquals("FFFF:00:00.0", identity(0, DriverEntry.cuDeviceGetPCIBusId));
        assertEquals("FFFF:02:00.0", identity(2, DriverEntry.cuDeviceGetPCIBusId));
        assertNotEquals(identity(0, DriverEntry.cuDeviceGetUuid_v2), identity(1, DriverEntry.cuDeviceGetUuid_v2));
        assertEquals(identity(1, DriverEntry.cuDeviceGetUuid_v2), identity(1, DriverEntry.cuDeviceGetUuid_v2));
    }

    @Test
    void thereAreNoMore() {
        assertThrows(DriverUnavailableException.class,
                () -> new SoftwareDriverProvider().open(new DriverOptions(3, 3, MEMORY_BYTES)));
    }
}
