package io.tessera.guardian.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Terms of second entries, at their borders. */
class LaunchCheckTest {
    private static final long BASE = 0x7000_0000_0000L;
    private static final long BYTES = 4L << 30;
    private static final CheckedEntry ENTRY = new CheckedEntry("k", "__tessera_checked_k", "", 256, 4, 1 << 20,
            List.of(new CheckedEntry.Number(1, 0, 32, 1000), new CheckedEntry.Number(2, 8, 64, 1L << 40)),
            List.of(new CheckedEntry.Pointer(0, 0, 16)));
    /** A pointer, a 32-bit number, and a structure of 16 bytes. */
    private static final long[] OFFSETS = {0, 8, 16};
    private static final int LENGTH = 32;

    private static boolean admits(int gridX, int blockX, int blockY, long pointer, int number, long wide, int length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment parameters = arena.allocate(LENGTH, 8);
            parameters.set(ValueLayout.JAVA_LONG, 0, pointer);
            parameters.set(ValueLayout.JAVA_INT, 8, number);
            parameters.set(ValueLayout.JAVA_LONG, 24, wide);
            return new LaunchCheck(ENTRY, i -> OFFSETS[i]).admits(gridX, blockX, blockY, parameters, length, BASE, BYTES);
        }
    }

    @ParameterizedTest
    @CsvSource({"1048576, 256, 4, 0, 1000, 1099511627776, true", "1048577, 256, 4, 0, 0, 0, false", "-1, 1, 1, 0, 0, 0, false",
            "1, 257, 1, 0, 0, 0, false", "1, 1, 5, 0, 0, 0, false", "1, 1, 1, 0, 1001, 0, false", "1, 1, 1, 0, -1, 0, false",
            "1, 1, 1, 0, 0, 1099511627777, false", "1, 1, 1, 0, 0, -1, false", "1, 1, 1, 8, 0, 0, false", "1, 1, 1, -16, 0, 0, false",
            "1, 1, 1, 4294967280, 0, 0, true", "1, 1, 1, 4294967296, 0, 0, false", "1, 1, 1, -123145302310912, 0, 0, false"})
    void bordersAreExact(int gridX, int blockX, int blockY, long away, int number, long wide, boolean admitted) {
        assertEquals(admitted, admits(gridX, blockX, blockY, BASE + away, number, wide, LENGTH));
    }

    @Test
    void parametersThatAreNotThereAreNotRead() {
        assertTrue(admits(1, 1, 1, BASE, 0, 0, LENGTH));
        assertFalse(admits(1, 1, 1, BASE, 0, 0, LENGTH - 1));
        LaunchCheck unknown = new LaunchCheck(ENTRY, i -> i == 0 ? -1 : OFFSETS[i]);
        assertFalse(unknown.admits(1, 1, 1, MemorySegment.ofArray(new byte[LENGTH]), LENGTH, 0, Long.MAX_VALUE));
    }

    @Test
    void termsOfAnotherFormAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new CheckedEntry("k", "e", "", 0, 0, 0, List.of(),
                List.of(new CheckedEntry.Pointer(0, 0, 3))));
        assertThrows(IllegalArgumentException.class, () -> new CheckedEntry("k", "e", "", 0, 0, 0, List.of(new CheckedEntry.Number(0, 0, 16, 1)),
                List.of()));
        assertThrows(IllegalArgumentException.class, () -> new CheckedEntry("k", "e", "", -1, 0, 0, List.of(), List.of()));
    }
}
