package io.tessera.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.os.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sealed memory, fixed mappings, futexes and pipes against the kernel that runs the test. */
@Timeout(120)
class SharedMemoryTest {
    private final SharedMemoryPort memory = Linux.sharedMemory();
    private final FutexPort futex = Linux.futex();

    @Test
    void twoMappingsAreOneMemoryAndItsSizeIsFixed() throws Exception {
        int descriptor = memory.create("tessera-test", 8192);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = memory.map(descriptor, 8192, arena);
            MemorySegment second = memory.map(descriptor, 8192, arena);
            first.set(ValueLayout.JAVA_LONG, 4096, 42);
            assertEquals(42, second.get(ValueLayout.JAVA_LONG, 4096));
            assertThrows(LinuxException.class, () -> Linux.open().files().write(descriptor, new byte[1]),
                    "it cannot be cut");
        } finally {
            memory.close(descriptor);
        }
    }

    @Test
    void aReservedRangeHasMemoryWhileTheArenaLives() throws Exception {
        long address = 0x2100_0000_0000L;
        int one = memory.create("tessera-test", 4096);
        int two = memory.create("tessera-test", 4096);
        try {
            for (int descriptor : new int[] {one, two}) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment mapped = memory.mapOver(descriptor, address, 4096, arena);
                    assertEquals(address, mapped.address());
                    assertEquals(0, mapped.get(ValueLayout.JAVA_INT, 0), "new memory, not the other's");
                    mapped.set(ValueLayout.JAVA_INT, 0, 7);
                }
            }
            assertTrue(Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .anyMatch(line -> line.startsWith("210000000000-210000001000 ---p")), "still ours, and nobody's to use");
        } finally {
            memory.close(one);
            memory.close(two);
        }
    }

    @Test
    void aSleeperIsWokenOrItsTimeEnds() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment word = arena.allocate(4, 4);
            long startNs = System.nanoTime();
            futex.await(word, 0, 20_000_000);
            assertTrue(System.nanoTime() - startNs >= 15_000_000, "it slept");
            futex.await(word, 1, 10_000_000_000L); // the word is not 1, so no thread sleeps
            Thread sleeper = Thread.ofPlatform().start(() -> {
                try {
                    futex.await(word, 0, 20_000_000_000L);
                } catch (LinuxException e) {
                    throw new IllegalStateException(e);
                }
            });
            while (sleeper.isAlive()) {
                futex.wake(word);
                sleeper.join(1);
            }
            assertTrue(System.nanoTime() - startNs < 8_000_000_000L, "it was woken");
        }
    }

    @Test
    void aPipeDeliversAndItsReaderNeverWaits() throws Exception {
        SharedMemoryPort.Pipe pipe = memory.pipe();
        LinuxException empty = assertThrows(LinuxException.class, () -> Linux.open().files().read(pipe.readEnd(), 8));
        assertEquals(Errno.EAGAIN, empty.errno());
        memory.close(pipe.writeEnd());
        assertEquals(0, Linux.open().files().read(pipe.readEnd(), 8).length);
        memory.close(pipe.readEnd());
    }
}
