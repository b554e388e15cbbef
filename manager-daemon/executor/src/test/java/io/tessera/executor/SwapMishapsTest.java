package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that go at the wrong time, while memory of tenants moves. */
@Timeout(300)
class SwapMishapsTest {
    private static final long MIB = 1 << 20;
    private static final long ENOUGH_MS = 300;

    @TempDir
    Path folder;

    private static long allocate(RelayTestClient client, long bytes) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(bytes)));
        return client.outLong(0);
    }

    private static long awayBytes(RunningExecutor executor, String tenant) {
        return executor.windows().bounds().stream().filter(bounds -> bounds.tenant().equals(tenant)).findFirst().orElseThrow().awayBytes();
    }

    /** A stream with work that is not done until {@link io.tessera.executor.fake.FakeDriver#release}. */
    private static void work(RunningExecutor executor, RelayTestClient client) {
        Set<Long> before = executor.driver.made("stream");
        assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        executor.driver.heldStreams.removeAll(before);
    }

    @Test
    void whoDiesInTheLineGivesItsPlaceUp() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                ExecutorService threads = Executors.newSingleThreadExecutor();
                RelayTestClient sibling = executor.client("a", 0);
                RelayTestClient dying = executor.client("a", 0);
                RelayTestClient holder = executor.client("b", 0);
                RelayTestClient next = executor.client("c", 0)) {
            executor.driver.recording = false;
            executor.driver.pages.capacityBytes = 272 * MIB;
            allocate(sibling, 8 * MIB);
            long address = allocate(dying, 88 * MIB);
            allocate(holder, 128 * MIB);
            await(() -> awayBytes(executor, "a") > 0, "a has left for b");
            work(executor, holder);
            dying.post(DriverEntry.cuMemsetD8Async, value(address), value(7), value(64), value(0)); // it stands in the line
            Thread.sleep(ENOUGH_MS);
            Future<Integer> asked = threads.submit(() -> next.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(96 * MIB)));
            Thread.sleep(ENOUGH_MS);
            dying.disconnect();
            await(dying.segment()::ended, "its end");
            assertFalse(asked.isDone(), "nobody could make room yet");
            executor.driver.release();
            assertEquals(0, asked.get(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void valuesThatWereWaitedForAreNotWrittenToMemoryThatIsAway() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient sibling = executor.client("a", 0);
                RelayTestClient dying = executor.client("a", 0)) {
            allocate(sibling, 8 * MIB);
            long address = allocate(dying, 8 * MIB);
            assertEquals(0, dying.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            long stream = dying.outLong(0);
            assertEquals(0, dying.call(DriverEntry.cuStreamWaitValue32_v2, value(stream), value(address), value(77), value(1)));
            executor.windows().park("a");
            await(() -> awayBytes(executor, "a") > 0, "it is away");
            dying.disconnect();
            await(dying.segment()::ended, "its end");
            assertFalse(executor.driver.wordsWritten.contains(address), "nothing is behind that address");
        }
    }

    @Test
    void whoComesWhenTheDeviceIsFullIsServed() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient first = executor.client("a", 0)) {
            executor.driver.pages.capacityBytes = 192 * MIB;
            while (first.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(2 * MIB)) == 0) {
                // until the device is full
            }
            try (RelayTestClient next = executor.client("b", 0)) {
                allocate(next, 8 * MIB);
            }
        }
    }
}
