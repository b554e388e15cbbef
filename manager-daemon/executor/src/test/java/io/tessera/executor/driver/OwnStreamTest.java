package io.tessera.executor.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.testing.driver.CallInjector;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnStreamTest {
    /** Clients' streams have a priority of -1 or more, and their kernels may leave a processor to none that has less. */
    @Test
    void nothingOfClientsIsMoreUrgent() {
        List<Long> priorities = new ArrayList<>();
        CallInjector calls = (entry, slots, device) -> {
            switch (entry) {
                case cuStreamCreateWithPriority -> priorities.add((long) (int) slots.getAtIndex(ValueLayout.JAVA_LONG, 2));
                case cuStreamCreate -> priorities.add(0L);
                default -> {}
            }
            return device.call(entry, slots);
        };
        OwnStream stream = new OwnStream();
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls driver = new DriverCalls(calls.port(), arena);
            long words = arena.allocate(16, 16).address();
            assertEquals(0, stream.words(driver, words, 1, 4));
            assertEquals(0, stream.zero(driver, words, 16));
            assertEquals(1, priorities.size());
            assertTrue(priorities.getFirst() <= -5, () -> "priority " + priorities); // no device has a higher one than -5
            assertEquals(0, stream.close(driver));
        }
    }
}
