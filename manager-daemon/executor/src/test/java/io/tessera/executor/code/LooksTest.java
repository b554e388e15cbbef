package io.tessera.executor.code;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.protocol.relay.RecordKind;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client's thread looks for records a million times a second. The allocations of a look go through the caches of all cores: 250 bytes a
 * look are 1.6 GB a second with three busy clients, and made eight programs on one GPU 1 to 5 % slower.
 */
@Timeout(300)
class LooksTest {
    private static final int ROUNDS = 20_000;
    private static final int WARM_ROUNDS = 20_000;
    private static final long BETWEEN_NS = 45_000;
    /** Far above what a record takes with its call of the fake driver, far below what its looks took. */
    private static final long MOST_BYTES = 2_048;
    private static final int WORD = 9;

    @TempDir
    Path folder;

    @Test
    void looksAllocateNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0)) {
            executor.driver.recording = false;
            long thread = Thread.getAllStackTraces().keySet().stream().filter(one -> one.getName().equals("client-1")).findFirst().orElseThrow()
                    .threadId();
            rounds(client, 0, WARM_ROUNDS);
            long before = threads.getThreadAllocatedBytes(thread);
            rounds(client, WARM_ROUNDS, ROUNDS);
            long each = (threads.getThreadAllocatedBytes(thread) - before) / ROUNDS;
            assertTrue(each < MOST_BYTES, each + " bytes for a mark and the looks before it");
        }
    }

    private static void rounds(RelayTestClient client, int from, int count) {
        for (int value = from + 1; value <= from + count; value++) {
            client.send(RecordKind.MARK, 0, false, RelayTestClient.CONTEXT, 0, RelayTestClient.mark(0, value, WORD));
            long untilNs = System.nanoTime() + BETWEEN_NS;
            while (System.nanoTime() - untilNs < 0) {
                Thread.onSpinWait();
            }
        }
        int last = from + count;
        RelayTestClient.await(() -> client.segment().word(WORD) == last, "the last mark");
    }
}
