package io.tessera.executor.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.fake.CallsAlone;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnStreamTest {
    /** Remembers how streams were made. */
    private static final class Device implements CallsAlone {
        private final List<Long> priorities = new ArrayList<>();

        @Override
        public int call(DriverEntry entry, MemorySegment slots) {
            switch (entry) {
                case cuStreamCreateWithPriority -> {
                    MemorySegment.ofAddress(slots.getAtIndex(ValueLayout.JAVA_LONG, 0)).reinterpret(8).set(ValueLayout.JAVA_LONG, 0, 7);
                    priorities.add((long) (int) slots.getAtIndex(ValueLayout.JAVA_LONG, 2));
                }
                case cuStreamCreate -> priorities.add(0L);
                default -> {}
            }
            return 0;
        }

        @Override
        public void close() {
            // nothing is held
        }
    }

    /** Clients' streams have a priority of -1 or more, and their kernels may leave a processor to none that has less. */
    @Test
    void nothingOfClientsIsMoreUrgent() {
        Device device = new Device();
        OwnStream stream = new OwnStream();
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls driver = new DriverCalls(device, arena);
            assertEquals(0, stream.words(driver, 0x1000, 1, 4));
            assertEquals(0, stream.zero(driver, 0x1000, 16));
            assertEquals(1, device.priorities.size());
            assertTrue(device.priorities.getFirst() <= -5, () -> "priority " + device.priorities); // no device has a higher one than -5
            assertEquals(0, stream.close(driver));
        }
    }
}
