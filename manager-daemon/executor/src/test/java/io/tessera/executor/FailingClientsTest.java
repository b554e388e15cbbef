package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.protocol.relay.RelayLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients whose thread in the executor does not end normally: broken rings, and unforeseen errors. */
@Timeout(300)
class FailingClientsTest {
    @TempDir
    Path folder;

    private static long allocate(RelayTestClient client, long bytes) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(bytes)));
        return client.outLong(0);
    }

    /** Its memory is freed as always, and its window and the words that the device may write in its segment do not outlive it. */
    @Test
    void aThreadThatFailsEndsItsClientAlone() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            long memory = allocate(client, 1 << 20);
            allocate(other, 8);
            int registered = executor.driver.alive("registered");
            executor.driver.unthought.add(DriverEntry.cuMemsetD8Async);
            client.post(DriverEntry.cuMemsetD8Async, value(memory), value(0), value(16), value(0));
            await(client.segment()::ended, "the end");
            executor.driver.unthought.clear();
            for (int i = 0; i < 3; i++) {
                try (RelayTestClient next = executor.client("a", 0)) {
                    assertNotEquals(0, allocate(next, 1 << 20));
                    next.disconnect();
                }
            }
            assertNotEquals(0, allocate(other, 8));
            assertEquals(0, other.segment().contextError());
            await(() -> executor.driver.alive("registered") == registered - 2, "the header and the words of the client that is gone");
        }
    }

    /** The device may still write to memory that could not be taken back: none of it is given to others. */
    @Test
    void anEndThatFailsEndsTheExecutorInItsTenantsName() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertNotEquals(0, allocate(client, 1 << 20));
            executor.driver.unthought.add(DriverEntry.cuMemHostUnregister);
            client.disconnect();
            assertFalse(executor.awaitEnd());
            assertTrue(executor.told().contains("\"tenant\":\"a\"") && executor.told().contains("cannot be taken back"), executor.told());
        }
    }

    @Test
    void aBrokenRingEndsItsClientAlone() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            long at = client.claim(16);
            client.commit(at, RelayLayout.RECORD_MAX + 16);
            await(client.segment()::ended, "the end");
            assertNotEquals(0, allocate(other, 8));
        }
    }
}
