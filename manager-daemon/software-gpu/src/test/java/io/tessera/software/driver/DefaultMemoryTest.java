package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverUnavailableException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the default size of a software GPU's memory. */
@Timeout(180)
class DefaultMemoryTest {
    private static final long PAGE_BYTES = 2L << 20;

    @Test
    void aQuarterOfTheMachine() throws DriverUnavailableException, IOException {
        long machine = Files.readAllLines(Path.of("/proc/meminfo")).stream().filter(line -> line.startsWith("MemTotal:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).findFirst().orElseThrow();
        // In a container with a limit of its own that is the machine's memory.
        long limit = ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
        try (DriverPort driver = new SoftwareDriverProvider().open(DriverOptions.DEFAULT); Arena arena = Arena.ofConfined()) {
            MemorySegment slots = arena.allocate(16, 8);
            assertEquals(0, driver.call(DriverEntry.cuInit, slots));
            MemorySegment bytes = arena.allocate(8, 8);
            slots.set(ValueLayout.JAVA_LONG, 0, bytes.address());
            assertEquals(0, driver.call(DriverEntry.cuDeviceTotalMem_v2, slots));
            long total = bytes.get(ValueLayout.JAVA_LONG, 0);
            assertTrue(total <= machine / 4, total + " of " + machine);
            assertTrue(total > limit / 4 - PAGE_BYTES, total + " of " + limit);
        }
    }
}
