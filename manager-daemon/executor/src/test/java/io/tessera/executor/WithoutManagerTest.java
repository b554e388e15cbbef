package io.tessera.executor;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.clock.NanoClock;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.os.linux.Linux;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests how long an executor lives that no manager and no client needs. */
@Timeout(180)
class WithoutManagerTest {
    private static final long S = 1_000_000_000L;
    /** Several cycles of the thread that decides. */
    private static final long A_WHILE_MS = 400;

    @TempDir
    private Path folder;
    private final AtomicLong aheadNs = new AtomicLong();
    private final NanoClock clock = () -> Clocks.system().monotonic().nanoTime() + aheadNs.get();

    private static boolean runsOn(RunningExecutor executor) throws InterruptedException {
        Thread.sleep(A_WHILE_MS);
        return executor.isRunning();
    }

    @Test
    void itEndsAfterAMinuteWithoutBoth() throws Exception {
        AtomicBoolean managed = new AtomicBoolean(true);
        try (RunningExecutor executor = new RunningExecutor(folder, Linux.sharedMemory(), clock, managed::get)) {
            aheadNs.addAndGet(100 * S);
            assertTrue(runsOn(executor), "a manager is there");
            managed.set(false);
            aheadNs.addAndGet(55 * S);
            assertTrue(runsOn(executor), "a manager may come");
            managed.set(true);
            assertTrue(runsOn(executor));
            managed.set(false);
            aheadNs.addAndGet(55 * S);
            assertTrue(runsOn(executor), "one came");
            aheadNs.addAndGet(10 * S);
            assertTrue(executor.awaitEnd());
        }
    }

    @Test
    void withAClientItGoesOn() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder, Linux.sharedMemory(), clock, () -> false)) {
            RelayTestClient client = executor.client("team", 0);
            executor.managerEnds();
            for (int i = 0; i < 5; i++) {
                aheadNs.addAndGet(25 * S);
                assertTrue(runsOn(executor));
            }
            client.disconnect();
            assertTrue(runsOn(executor), "a manager may come");
            aheadNs.addAndGet(70 * S);
            assertTrue(executor.awaitEnd());
        }
    }

    @Test
    void withoutClientsItEndsWithAManagerThatEndsInOrder() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder, Linux.sharedMemory(), clock, () -> true)) {
            assertTrue(runsOn(executor));
            executor.managerEnds();
            assertTrue(executor.awaitEnd());
            assertFalse(executor.isRunning());
        }
    }

    @Test
    void aClientThatIsLeavingWhenTheManagerEndsDoesNotKeepIt() throws Exception {
        AtomicBoolean managed = new AtomicBoolean(true);
        try (RunningExecutor executor = new RunningExecutor(folder, Linux.sharedMemory(), clock, managed::get)) {
            RelayTestClient client = executor.client("team", 0);
            executor.managerEnds();
            managed.set(false);
            assertTrue(runsOn(executor), "the client is there");
            client.disconnect();
            assertTrue(executor.awaitEnd());
        }
    }

    @Test
    void aManagerThatComesAtOnceKeepsIt() throws Exception {
        AtomicBoolean managed = new AtomicBoolean(true);
        try (RunningExecutor executor = new RunningExecutor(folder, Linux.sharedMemory(), clock, managed::get)) {
            RelayTestClient client = executor.client("team", 0);
            executor.managerEnds();
            assertTrue(runsOn(executor), "the client is there");
            client.disconnect();
            assertTrue(runsOn(executor), "a manager is there");
        }
    }
}
