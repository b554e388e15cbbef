package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.window.TenantWindows;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.relay.QueryKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tenants whose memory does not fit the device together: all of them are served, and each finds what it had. */
@Timeout(300)
class SwapBetweenTenantsTest {
    private static final long MIB = 1 << 20;
    private static final long PART = 2 * MIB;
    private static final int ROUNDS = 40;

    @TempDir
    Path folder;

    private static long allocate(RelayTestClient client, long bytes) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(bytes)));
        return client.outLong(0);
    }

    private static void fill(RelayTestClient client, long address, byte what) {
        assertEquals(0, client.call(DriverEntry.cuMemsetD8Async, value(address), value(what), value(64), value(0)));
    }

    private static TenantWindows.Bounds of(RunningExecutor executor, String tenant) {
        return executor.windows().bounds().stream().filter(bounds -> bounds.tenant().equals(tenant)).findFirst().orElseThrow();
    }

    @Test
    void threeTenantsOfThreeQuartersEachFindWhatTheyWrote() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            executor.driver.recording = false;
            executor.driver.pages.capacityBytes = 272 * MIB; // and each tenant's sink takes 34
            List<Callable<Integer>> programs = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                RelayTestClient client = executor.client("tenant " + i, 0);
                byte seed = (byte) (i * 64 + 1);
                programs.add(() -> program(client, 96 * MIB, seed));
            }
            int wrong = 0;
            for (Future<Integer> program : threads.invokeAll(programs)) {
                wrong += program.get();
            }
            assertEquals(0, wrong);
            await(() -> executor.driver.pages.left().equals("0 memories, 0 handles, 0 mappings, 0 reservations"), "nothing left");
            await(() -> executor.driver.alive("registered") == 0, "the host's memory is given back");
        }
    }

    /** Writes here and there, and copies what is there to pinned memory. Returns how often that was something else. */
    private static int program(RelayTestClient client, long bytes, byte seed) throws Exception {
        RelayPinned pinned = client.pin(Long.BYTES, 0);
        assertEquals(0, client.query(QueryKind.PINNED, pinned.id()));
        MemorySegment host = MemorySegment.ofAddress(pinned.address()).reinterpret(Long.BYTES);
        long address = allocate(client, bytes);
        byte[] expected = new byte[(int) (bytes / PART)];
        int wrong = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int part = round * 7 % expected.length;
            expected[part] = (byte) (seed + round);
            fill(client, address + part * PART, expected[part]);
            for (int other = round % 61; other < expected.length; other += 61) {
                assertEquals(0,
                        client.call(DriverEntry.cuMemcpyDtoDAsync_v2, value(pinned.address()), value(address + other * PART), value(Long.BYTES),
                                value(0)));
                wrong += host.get(ValueLayout.JAVA_LONG, 0) == (expected[other] & 0xFFL) * 0x0101_0101_0101_0101L ? 0 : 1;
            }
        }
        client.disconnect();
        await(client.segment()::ended, "its end");
        return wrong;
    }

    @Test
    void whoIsToldLeavesAndComesBackWithItsNextCall() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            long address = allocate(client, 64 * MIB);
            fill(client, address, (byte) 7);
            long free = executor.driver.pages.freeBytes();
            assertTrue(executor.windows().park("a"));
            await(() -> of(executor, "a").awayBytes() >= 64 * MIB, "it is away");
            assertTrue(executor.driver.pages.freeBytes() >= free + 64 * MIB);
            fill(client, address + PART, (byte) 8);
            assertEquals(0, of(executor, "a").awayBytes());
            assertEquals(0x0707_0707_0707_0707L, executor.driver.pages.getLong(address));
            assertEquals(0x0808_0808_0808_0808L, executor.driver.pages.getLong(address + PART));
            assertTrue(executor.windows().park("a"));
            await(() -> of(executor, "a").awayBytes() >= 64 * MIB, "it is away again");
            executor.windows().recall("a");
            await(() -> of(executor, "a").awayBytes() == 0, "it is back without a call");
            assertEquals(0x0808_0808_0808_0808L, executor.driver.pages.getLong(address + PART));
        }
    }

    @Test
    void whatOneTenantHasIsNoMemoryForAnotherIfItCannotLeave() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient busy = executor.client("busy", 0);
                RelayTestClient other = executor.client("other", 0)) {
            executor.driver.pages.capacityBytes = 192 * MIB;
            allocate(busy, 96 * MIB);
            Set<Long> before = executor.driver.made("stream");
            assertEquals(0, busy.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            executor.driver.heldStreams.addAll(executor.driver.made("stream"));
            executor.driver.heldStreams.removeAll(before);
            long beganNs = System.nanoTime();
            assertEquals(CudaResult.OUT_OF_MEMORY, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(96 * MIB)));
            assertTrue(System.nanoTime() - beganNs < 20_000_000_000L);
            executor.driver.release();
            await(() -> other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(96 * MIB)) == 0, "its work has ended: it leaves");
        }
    }
}
