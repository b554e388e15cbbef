package io.tessera.software.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Bulk accesses, which are made in pieces. */
class RealMemoryTest {
    private static final int BYTES = (3 << 20) + 77;

    /** Whatever the distance and its sign, and however many pieces: as a copy of a Java array within itself. */
    @Test
    void rangesThatOverlapAreCopiedAsIfOverABuffer() {
        Random random = new Random(5);
        for (int distance : new int[] {0, 1, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, BYTES - 1}) {
            for (boolean up : new boolean[] {true, false}) {
                byte[] expected = new byte[2 * BYTES];
                random.nextBytes(expected);
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment memory = arena.allocate(expected.length).copyFrom(MemorySegment.ofArray(expected));
                    int from = up ? 0 : distance;
                    int to = up ? distance : 0;
                    System.arraycopy(expected, from, expected, to, BYTES);
                    RealMemory.copy(memory.address() + from, memory.address() + to, BYTES);
                    assertArrayEquals(expected, memory.toArray(ValueLayout.JAVA_BYTE), distance + (up ? " up" : " down"));
                }
            }
        }
    }

    @Test
    void allBytesAndNoOthersAreSet() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BYTES + 2L);
            RealMemory.fill(memory.address() + 1, BYTES, (byte) 7);
            byte[] expected = new byte[BYTES + 2];
            Arrays.fill(expected, 1, BYTES + 1, (byte) 7);
            assertArrayEquals(expected, memory.toArray(ValueLayout.JAVA_BYTE));
            RealMemory.fill(memory.address(), 0, (byte) 1);
            assertEquals(0, memory.get(ValueLayout.JAVA_BYTE, 0));
        }
    }

    /** Another thread asks the JVM to stop all threads, again and again, while memory of which no page is there is set. */
    @Test
    void theJvmStopsWithoutWaitingForTheWholeRange() throws InterruptedException {
        long bytes = 1L << 30;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(bytes);
            Thread setter = Thread.ofPlatform().start(() -> RealMemory.fill(memory.address(), bytes, (byte) 1));
            int stops = 0;
            while (setter.isAlive()) {
                Thread.getAllStackTraces();
                stops++;
            }
            setter.join();
            assertTrue(stops > 10, stops + " stops while 1 GiB was set");
        }
    }
}
