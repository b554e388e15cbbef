package io.tessera.executor.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.os.FilePort;
import io.tessera.os.SharedMemoryPort;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Pinned memory for what leaves the device. */
class HostFramesTest {
    private static final long FRAME = HostFrames.FRAME_BYTES;
    private static final int FRAMES_OF_A_BLOCK = 16;
    private static final int BLOCKS = 3;

    /** A host that maps each block right behind the one before, as Linux often does. */
    private static SharedMemoryPort sideBySide(MemorySegment all) {
        long[] used = new long[1];
        return (SharedMemoryPort) Proxy.newProxyInstance(HostFramesTest.class.getClassLoader(), new Class<?>[] {SharedMemoryPort.class},
                (_, method, arguments) -> switch (method.getName()) {
                    case "create" -> 7;
                    case "map" -> {
                        used[0] += (long) arguments[1];
                        yield all.asSlice(used[0] - (long) arguments[1], (long) arguments[1]);
                    }
                    case "close" -> null;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static FilePort withRoom() {
        return (FilePort) Proxy.newProxyInstance(HostFramesTest.class.getClassLoader(), new Class<?>[] {FilePort.class}, (_, method, _) -> {
            if (!method.getName().equals("reserve")) {
                throw new UnsupportedOperationException(method.getName());
            }
            return 0;
        });
    }

    @Test
    void framesOfTwoRegistrationsAreNotSideBySide() {
        try (Arena arena = Arena.ofShared(); FakeDriver driver = new FakeDriver()) {
            MemorySegment all = arena.allocate((BLOCKS + 1) * FRAMES_OF_A_BLOCK * FRAME, 4096);
            HostFrames host = new HostFrames(sideBySide(all), withRoom(), () -> Long.MAX_VALUE, Long.MAX_VALUE, 0);
            long[] frames = host.take(new DriverCalls(driver, arena), BLOCKS * FRAMES_OF_A_BLOCK);
            Arrays.sort(frames);
            int neighbours = 0;
            for (int i = 1; i < frames.length; i++) {
                neighbours += frames[i] == frames[i - 1] + FRAME ? 1 : 0;
            }
            assertEquals(BLOCKS, driver.alive("registered"));
            assertEquals(BLOCKS * (FRAMES_OF_A_BLOCK - 1), neighbours, "those of one block alone");
        }
    }
}
