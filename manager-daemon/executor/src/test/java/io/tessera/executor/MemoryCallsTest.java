package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.relay.QueryKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory calls of clients: all memory comes from their tenant's window, and all of it is given back. */
@Timeout(300)
class MemoryCallsTest {
    private static final long MIB = 1 << 20;
    private static final String NOTHING = "0 memories, 0 handles, 0 mappings, 0 reservations";

    @TempDir
    Path folder;

    private static byte[] ints(int... values) {
        return MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE);
    }

    /** CUmemAllocationProp, and the beginning of CUmemPoolProps: pinned memory of the device. */
    private static byte[] properties(int bytes) {
        byte[] properties = new byte[bytes];
        properties[0] = 1;
        properties[8] = 1;
        return properties;
    }

    private static void end(RunningExecutor executor, RelayTestClient... clients) throws Exception {
        for (RelayTestClient client : clients) {
            client.disconnect();
            await(client.segment()::ended, "a client's end");
        }
        await(() -> executor.driver.pages.left().equals(NOTHING), "nothing left");
        assertEquals(0, executor.driver.alive("stream"));
        assertEquals(0, executor.driver.alive("event"));
        assertEquals(0, executor.driver.alive("registered"));
    }

    @Test
    void aPoolIsTheClientsAndTheDriverKnowsOfNone() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            assertEquals(0, client.call(DriverEntry.cuMemPoolCreate, outBytes(8), in(properties(88))));
            long pool = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuMemAllocFromPoolAsync, outBytes(8), value(MIB), value(pool),
                    value(0)));
            long address = client.outLong(0);
            assertEquals(CudaResult.INVALID_HANDLE, other.call(DriverEntry.cuMemAllocFromPoolAsync, outBytes(8), value(MIB),
                    value(pool), value(0)));
            assertEquals(CudaResult.INVALID_VALUE, other.call(DriverEntry.cuMemFreeAsync, value(address), value(0)));
            assertEquals(0, client.call(DriverEntry.cuMemPoolGetAttribute, value(pool), value(7), outBytes(8)));
            assertEquals(MIB, client.outLong(0));
            assertEquals(0, client.call(DriverEntry.cuMemFreeAsync, value(address), value(0)));
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuMemFreeAsync, value(address), value(0)), "twice");
            assertEquals(0, client.call(DriverEntry.cuMemPoolTrimTo, value(pool), value(0)));
            assertEquals(0, client.call(DriverEntry.cuMemPoolGetAttribute, value(pool), value(5), outBytes(8)));
            assertEquals(0, client.outLong(0));
            assertEquals(0, client.call(DriverEntry.cuMemAllocAsync, outBytes(8), value(100), value(0)), "left to the end");
            assertEquals(0, client.call(DriverEntry.cuMemPoolDestroy, value(pool)));
            assertEquals(CudaResult.INVALID_HANDLE, client.call(DriverEntry.cuMemPoolTrimTo, value(pool), value(0)));
            assertTrue(executor.driver.calls.stream().noneMatch(call -> call.startsWith("cuMemPool")
                    || call.startsWith("cuMemAlloc")), executor.driver.calls.toString());
            end(executor, client, other);
        }
    }

    @Test
    void virtualMemoryLiesInTheWindowAndIsShutUntilItIsAllowed() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 8 * MIB);
                RelayTestClient other = executor.client("b", 0)) {
            assertEquals(0, client.call(DriverEntry.cuMemAddressReserve, outBytes(8), value(64 * MIB), value(0),
                    value(0), value(0)));
            long range = client.outLong(0);
            long base = executor.windows().bounds().stream().filter(bounds -> bounds.tenant().equals("a")).findFirst()
                    .orElseThrow().baseAddress();
            assertTrue(range >= base && range < base + (4L << 30));
            assertEquals(CudaResult.OUT_OF_MEMORY, client.call(DriverEntry.cuMemCreate, outBytes(8), value(10 * MIB),
                    in(properties(32)), value(0)), "the limit");
            assertEquals(0, client.call(DriverEntry.cuMemCreate, outBytes(8), value(4 * MIB), in(properties(32)),
                    value(0)));
            long handle = client.outLong(0);
            assertEquals(CudaResult.NOT_SUPPORTED, client.call(DriverEntry.cuMemMap, value(range), value(2 * MIB), value(0),
                    value(handle), value(0)), "a part");
            assertEquals(CudaResult.INVALID_HANDLE, other.call(DriverEntry.cuMemMap, value(range), value(4 * MIB), value(0),
                    value(handle), value(0)));
            assertEquals(0, client.call(DriverEntry.cuMemMap, value(range), value(4 * MIB), value(0), value(handle),
                    value(0)));
            assertEquals(0, executor.driver.pages.getLong(range + MIB), "what was there before is gone");
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuMemsetD8Async, value(range), value(1), value(8),
                    value(0)), "not allowed yet");
            assertEquals(0, client.call(DriverEntry.cuMemSetAccess, value(range), value(4 * MIB),
                    in(ints(1, 0, 3)), value(1)));
            assertEquals(0, client.call(DriverEntry.cuMemsetD8Async, value(range), value(1), value(8), value(0)));
            assertEquals(0, client.call(DriverEntry.cuMemRelease, value(handle)));
            assertEquals(CudaResult.OUT_OF_MEMORY, client.call(DriverEntry.cuMemCreate, outBytes(8), value(6 * MIB),
                    in(properties(32)), value(0)), "what is mapped counts without a handle");
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuMemAddressFree, value(range), value(64 * MIB)));
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuMemUnmap, value(range), value(2 * MIB)));
            assertEquals(0, client.call(DriverEntry.cuMemUnmap, value(range), value(4 * MIB)));
            assertEquals(0, client.call(DriverEntry.cuMemCreate, outBytes(8), value(6 * MIB), in(properties(32)),
                    value(0)));
            long second = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuMemMap, value(range + 2 * MIB), value(6 * MIB), value(0),
                    value(second), value(0)), "left to the end");
            end(executor, client, other);
        }
    }

    @Test
    void whatTheSoftwareGpuDoesNotSupportTheUserIsTold() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(MIB)));
            long address = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuMemsetD8Async, value(address), value(1), value(8), value(0)));
            executor.driver.lost = CudaResult.NOT_SUPPORTED;
            assertEquals(CudaResult.NOT_SUPPORTED, client.call(DriverEntry.cuMemsetD8Async, value(address), value(1), value(8), value(0)));
            executor.driver.lost = 0;
            assertEquals("cuMemsetD8Async is not supported by the software GPU, or not for this; run the program on a machine with a GPU\n",
                    client.segment().notices());
        }
    }

    @Test
    void whatWorkMayStillUseIsFreedLater() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(MIB)));
            long address = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuMemsetD8Async, value(address), value(1), value(8), value(0)));
            executor.driver.held = true;
            assertEquals(CudaResult.NOT_READY, client.call(DriverEntry.cuMemFree_v2, value(address)));
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuMemFree_v2, value(address)), "it is freed");
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(MIB)));
            assertNotEquals(address, client.outLong(0));
            executor.driver.held = false;
            await(() -> executor.windows().bounds().getFirst().allocatedBytes() == MIB, "the first one's end");
            end(executor, client);
        }
    }

    @Test
    void aLimitChangesWhileItsTenantRuns() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 4 * MIB)) {
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(3 * MIB)));
            long first = client.outLong(0);
            assertEquals(CudaResult.OUT_OF_MEMORY, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(3 * MIB)));
            executor.limit("a", 100 * MIB);
            executor.limit("nobody", 5);
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(90 * MIB)));
            assertEquals(0, client.query(QueryKind.MEMORY, 0));
            assertEquals(7 * MIB, client.outLong(0), "free");
            assertEquals(100 * MIB, client.outLong(8), "total");
            executor.limit("a", 2 * MIB);
            assertEquals(0, client.query(QueryKind.MEMORY, 0));
            assertEquals(0, client.outLong(0));
            assertEquals(CudaResult.OUT_OF_MEMORY, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(1)));
            assertEquals(0, client.call(DriverEntry.cuMemFree_v2, value(first)));
            executor.limit("a", 0);
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(200 * MIB)));
            await(() -> executor.told().contains("\"windows\":[{\"tenant\":\"a\",\"base\":"), "the status");
        }
    }

    /** Clients that are killed in the middle of whatever they do leave nothing behind. */
    @Test
    void whoGoesInTheMiddleLeavesNothing() throws Exception {
        long seed = Long.getLong("tessera.seed", System.nanoTime());
        System.out.println("clients that go in the middle, seed " + seed);
        Random random = new Random(seed);
        try (RunningExecutor executor = new RunningExecutor(folder)) {
            executor.driver.recording = false;
            for (int round = 0; round < 12; round++) {
                RelayTestClient client = executor.client("a", 200 * MIB);
                RelayTestClient sibling = executor.client(round % 2 == 0 ? "a" : "b", 200 * MIB);
                int calls = random.nextInt(60);
                for (int i = 0; i < calls; i++) {
                    some(random.nextBoolean() ? client : sibling, random);
                }
                end(executor, client, sibling);
            }
        }
    }

    private static void some(RelayTestClient client, Random random) throws Exception {
        long bytes = 1 + random.nextInt(random.nextBoolean() ? 100_000 : 40 << 20);
        switch (random.nextInt(6)) {
            case 0, 1 -> client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(bytes));
            case 2 -> {
                if (client.call(DriverEntry.cuMemAllocAsync, outBytes(8), value(bytes), value(0)) == 0
                        && random.nextBoolean()) {
                    client.post(DriverEntry.cuMemFreeAsync, value(client.outLong(0)), value(0));
                }
            }
            case 3 -> {
                if (client.call(DriverEntry.cuMemAddressReserve, outBytes(8), value(8 * MIB), value(0), value(0),
                        value(0)) == 0) {
                    long range = client.outLong(0);
                    if (client.call(DriverEntry.cuMemCreate, outBytes(8), value(4 * MIB), in(properties(32)),
                            value(0)) == 0 && random.nextBoolean()) {
                        client.call(DriverEntry.cuMemMap, value(range), value(4 * MIB), value(0),
                                value(client.outLong(0)), value(0));
                    }
                }
            }
            case 4 -> {
                RelayPinned pinned = client.pin(1 + random.nextInt(100_000), 0);
                if (pinned.result() == 0 && random.nextBoolean()) {
                    client.query(QueryKind.PINNED, pinned.id());
                }
            }
            default -> client.call(DriverEntry.cuMemAllocPitch_v2, outBytes(8), outBytes(8), value(1000), value(100),
                    value(4));
        }
    }
}
