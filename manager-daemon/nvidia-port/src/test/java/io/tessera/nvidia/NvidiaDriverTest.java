package io.tessera.nvidia;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverPortProvider;
import io.tessera.device.DriverUnavailableException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The port in front of the scripted driver, which has two devices of 256 MiB. */
@Timeout(180)
class NvidiaDriverTest {
    private static final int CALLS = 200_000;
    private static final int ROUNDS = 7;
    /** Far above what is measured (some 10 ns), far below what a handle that is not compiled would take. */
    private static final double LIMIT_NS = 1_000;

    private final DriverPortProvider provider = ServiceLoader.load(DriverPortProvider.class).iterator().next();

    @BeforeEach
    void nameTheDriver() {
        System.setProperty(DriverFile.PROPERTY, System.getProperty("scripted.driver"));
    }

    @AfterEach
    void forgetTheDriver() {
        System.clearProperty(DriverFile.PROPERTY);
    }

    @Test
    void bytesGoThereAndBack() throws DriverUnavailableException {
        assertEquals("nvidia", provider.name());
        try (DriverPort port = provider.open(new DriverOptions(1, 0)); Arena arena = Arena.ofConfined()) {
            assertFalse(port.software());
            assertTrue(port.name().startsWith("NVIDIA driver 13.0 at /"), port.name());
            Slots slots = new Slots(port, arena);
            MemorySegment answer = arena.allocate(ValueLayout.JAVA_LONG);
            assertEquals(0, slots.call(DriverEntry.cuDevicePrimaryCtxRetain, answer, 1));
            assertEquals(0, slots.call(DriverEntry.cuCtxSetCurrent, answer.get(ValueLayout.JAVA_LONG, 0)));
            assertEquals(0, slots.call(DriverEntry.cuMemAlloc_v2, answer, 4096));
            long device = answer.get(ValueLayout.JAVA_LONG, 0);
            assertEquals(0, slots.call(DriverEntry.cuMemsetD8_v2, device, 0x5a, 4096));
            MemorySegment host = arena.allocate(4096);
            assertEquals(0, slots.call(DriverEntry.cuMemcpyDtoH_v2, host, device, 4096));
            byte[] expected = new byte[4096];
            Arrays.fill(expected, (byte) 0x5a);
            assertEquals(-1, MemorySegment.ofArray(expected).mismatch(host));
            assertEquals(1, slots.call(DriverEntry.cuMemGetAddressRange_v2, answer, answer, device), "the script's error");
            assertEquals(0, slots.call(DriverEntry.cuMemFree_v2, device));
            assertEquals(0, slots.call(DriverEntry.cuDevicePrimaryCtxRelease_v2, 1));
        }
    }

    @Test
    void aCallCostsLittle() throws DriverUnavailableException {
        try (DriverPort port = provider.open(DriverOptions.DEFAULT); Arena arena = Arena.ofConfined()) {
            MemorySegment slots = arena.allocate(ValueLayout.JAVA_LONG, 2);
            slots.set(ValueLayout.JAVA_LONG, 0, arena.allocate(ValueLayout.JAVA_LONG).address());
            double best = Double.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                long start = System.nanoTime();
                for (int i = 0; i < CALLS; i++) {
                    assertEquals(0, port.call(DriverEntry.cuDriverGetVersion, slots));
                }
                best = Math.min(best, (System.nanoTime() - start) / (double) CALLS);
            }
            System.out.printf("a call of cuDriverGetVersion through the port: %.1f ns%n", best);
            assertTrue(best < LIMIT_NS, () -> "a call takes too long");
        }
    }

    @Test
    void whyADriverCannotBeOpenedIsSaid(@TempDir Path directory) throws IOException {
        assertMessage(new DriverOptions(2, 0), "has no device 2: it has 2");
        System.setProperty(DriverFile.PROPERTY, directory.resolve("nothing.so").toString());
        assertMessage(DriverOptions.DEFAULT, "there is no driver at " + directory.resolve("nothing.so"));
        Path damaged = Files.writeString(directory.resolve("damaged.so"), "no library");
        System.setProperty(DriverFile.PROPERTY, damaged.toString());
        assertMessage(DriverOptions.DEFAULT, "cannot be opened");
    }

    private void assertMessage(DriverOptions options, String part) {
        DriverUnavailableException refusal = assertThrows(DriverUnavailableException.class, () -> provider.open(options));
        assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
    }

    @Test
    void ourOwnLibraryIsNoDriver(@TempDir Path directory) throws IOException {
        Path ours = Files.writeString(directory.resolve("ours"), "\u007fELF ... tessera_memory_of ...");
        assertFalse(DriverFile.vendors(ours));
        assertFalse(DriverFile.vendors(directory.resolve("missing")));
        assertTrue(DriverFile.vendors(Path.of(System.getProperty("scripted.driver"))));
    }
}
