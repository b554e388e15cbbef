package io.tessera.executor.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.software.driver.SoftwareDriverProvider;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loads the kernel that looks at memory on a device that is full to the last byte. */
@Timeout(60)
class RoomForContentKernelTest {
    private static final long DEVICE = 64L << 20;

    /** Those that leave the device load it, while others wait for them: if they asked for room, all would wait for each other. */
    @Test
    void nobodyIsAskedToMakeRoomForIt() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        ContentKernel kernel = new ContentKernel();
        try (Arena arena = Arena.ofConfined(); DriverPort port = new SoftwareDriverProvider().open(new DriverOptions(0, DEVICE))) {
            DeviceContext.open(port, 0);
            DriverCalls calls = new DriverCalls(port, arena);
            calls.room(_ -> {
                asked.incrementAndGet();
                return false;
            });
            Deque<Long> pieces = new ArrayDeque<>();
            for (long bytes = DEVICE / 2; bytes >= 1; bytes /= 2) {
                while (calls.callAtOnce(DriverEntry.cuMemAlloc_v2, calls.out(0), bytes) == CudaResult.SUCCESS) {
                    pieces.push(calls.outLong(0));
                }
            }
            kernel.load(calls);
            assertFalse(kernel.isLoaded());
            assertEquals(0, asked.get());
            assertEquals(CudaResult.OUT_OF_MEMORY, calls.call(DriverEntry.cuMemAlloc_v2, calls.out(0), 1L));
            assertTrue(asked.get() > 0, "other calls do ask");
            while (!pieces.isEmpty()) {
                assertEquals(CudaResult.SUCCESS, calls.call(DriverEntry.cuMemFree_v2, pieces.pop()));
            }
            kernel.load(calls);
            assertTrue(kernel.isLoaded(), "it is tried again");
        }
    }
}
