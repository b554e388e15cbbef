package io.tessera.os.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.os.LinuxException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class GrowingMemoryTest {
    private static final long MIB = 1L << 20;

    @Test
    void keepsItsContentsAndIsZeroBehindThem() throws LinuxException {
        try (GrowingMemory memory = new GrowingMemory()) {
            long written = 0;
            for (long bytes : new long[] {1, MIB, MIB + 1, 64 * MIB, 64 * MIB + 1, 200 * MIB}) {
                MemorySegment whole = memory.atLeast(bytes);
                assertTrue(whole.byteSize() >= bytes);
                for (long at = 0; at < written; at += MIB / 2) {
                    assertEquals(at ^ 0x5a5a, whole.get(ValueLayout.JAVA_LONG, at));
                }
                assertEquals(0, whole.get(ValueLayout.JAVA_LONG, whole.byteSize() - Long.BYTES));
                for (; written + Long.BYTES <= bytes; written += MIB / 2) {
                    whole.set(ValueLayout.JAVA_LONG, written, written ^ 0x5a5a);
                }
            }
        }
    }

    @Test
    void nobodyReadsWhatWasGivenBack() throws LinuxException {
        GrowingMemory memory = new GrowingMemory();
        MemorySegment first = memory.atLeast(MIB);
        MemorySegment larger = memory.atLeast(2 * MIB);
        assertThrows(IllegalStateException.class, () -> first.get(ValueLayout.JAVA_BYTE, 0));
        memory.close();
        assertThrows(IllegalStateException.class, () -> larger.get(ValueLayout.JAVA_BYTE, 0));
        memory.close();
    }

    @Test
    void whatThereIsNoRoomForLeavesTheRestAsItIs() throws LinuxException {
        try (GrowingMemory memory = new GrowingMemory()) {
            memory.atLeast(1).set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
            assertThrows(LinuxException.class, () -> memory.atLeast(1L << 50));
            assertEquals(7, memory.atLeast(1).get(ValueLayout.JAVA_BYTE, 0));
        }
    }
}
