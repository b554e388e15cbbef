package io.tessera.executor.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.software.driver.SoftwareDriverProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A copy of a program's memory, on the software GPU. */
@Timeout(60)
class SavedMemoryTest {
    private static final long MIB = 1L << 20;
    private static final long DEVICE = 64 * MIB;
    private static final long LIMIT = 24 * MIB;

    private static MemoryRange range(DriverCalls calls, long bytes, int word) {
        assertEquals(CudaResult.SUCCESS, calls.call(DriverEntry.cuMemAlloc_v2, calls.out(0), bytes));
        MemoryRange range = new MemoryRange(calls.outLong(0), bytes, Origin.ALLOCATED, 0, bytes, 0);
        fill(calls, range, word);
        return range;
    }

    private static void fill(DriverCalls calls, MemoryRange range, int word) {
        assertEquals(CudaResult.SUCCESS, calls.call(DriverEntry.cuMemsetD32_v2, range.address(), word, range.bytes() / Integer.BYTES));
    }

    private static void holds(DriverCalls calls, MemoryRange range, int word, Arena arena) {
        MemorySegment host = arena.allocate(range.bytes(), 8);
        assertEquals(CudaResult.SUCCESS, calls.call(DriverEntry.cuMemcpyDtoH_v2, host.address(), range.address(), range.bytes()));
        for (long at = 0; at < range.bytes(); at += Integer.BYTES) {
            assertEquals(word, host.get(ValueLayout.JAVA_INT, at));
        }
    }

    @Test
    void rangesComeBackAsTheyWere() throws Exception {
        try (Arena arena = Arena.ofConfined(); DriverPort port = new SoftwareDriverProvider().open(new DriverOptions(0, DEVICE))) {
            DeviceContext.open(port, 0);
            DriverCalls calls = new DriverCalls(port, arena);
            ClientCharge charge = new ClientCharge(new TenantMemory(LIMIT));
            SavedMemory saved = new SavedMemory(charge, calls);
            List<MemoryRange> ranges = List.of(range(calls, 4096, 7), range(calls, 2 * MIB, 8));
            MemoryRange other = range(calls, 4096, 9);
            for (int round = 0; round < 3; round++) {
                assertTrue(saved.reserve(2 * MIB + 4096));
                assertEquals(CudaResult.SUCCESS, saved.save(ranges, 0));
                ranges.forEach(each -> fill(calls, each, -1));
                fill(calls, other, 10);
                assertEquals(CudaResult.SUCCESS, saved.restore(ranges, 0));
                assertEquals(CudaResult.SUCCESS, calls.call(DriverEntry.cuStreamSynchronize, 0L));
                holds(calls, ranges.get(0), 7, arena);
                holds(calls, ranges.get(1), 8, arena);
                holds(calls, other, 10, arena);
            }
            assertEquals(2 * MIB + 4096, charge.usedBytes());
            saved.close();
            assertEquals(0, charge.usedBytes());
        }
    }

    @Test
    void aCopyThatDoesNotFitIsNotMade() throws Exception {
        try (Arena arena = Arena.ofConfined(); DriverPort port = new SoftwareDriverProvider().open(new DriverOptions(0, DEVICE))) {
            DeviceContext.open(port, 0);
            DriverCalls calls = new DriverCalls(port, arena);
            ClientCharge charge = new ClientCharge(new TenantMemory(LIMIT));
            SavedMemory saved = new SavedMemory(charge, calls);
            assertTrue(saved.reserve(0));
            assertFalse(saved.reserve(SavedMemory.MOST_BYTES + 1));
            assertFalse(saved.reserve(LIMIT + 1), "beyond the tenant's limit");
            range(calls, DEVICE - 8 * MIB, 1);
            assertFalse(saved.reserve(LIMIT), "the device is full");
            assertEquals(0, charge.usedBytes());
            assertTrue(saved.reserve(4 * MIB));
            assertTrue(saved.reserve(MIB));
            assertEquals(4 * MIB, charge.usedBytes());
            saved.close();
            saved.close();
            assertEquals(0, charge.usedBytes());
        }
    }
}
