package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The writer of a word that somebody waits for: the device behind fresh work, else the executor, as soon as it knows. */
@Timeout(300)
class AwaitedMarksTest {
    private static final byte[] PTX = ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry work(.param .u64 p, .param .u64 q) { ret; }\0"
            .getBytes(StandardCharsets.US_ASCII);
    private static final int WORD = 9;
    /** The mark is in the ring when the launch returns. */
    private static final long LAUNCH_NS = 100_000;
    /** No watchdog, which would record events behind slow launches. */
    private static final FenceSettings UNWATCHED = new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, false, 0, 0);
    private static final String WRITTEN = "cuStreamWriteValue64_v2";

    @TempDir
    Path folder;

    private long value;

    private static long function(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0)));
        long module = client.outLong(0);
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        long function = client.outLong(0);
        assertEquals(0, client.query(QueryKind.FUNCTION, function));
        return function;
    }

    private void mark(RelayTestClient client) {
        value++;
        client.send(RecordKind.MARK, 0, false, RelayTestClient.CONTEXT, RelayLayout.FLAG_WAITED, RelayTestClient.mark(0, value, WORD));
        RelayTestClient.await(() -> client.segment().word(WORD) == value, "a mark");
    }

    @Test
    void aStreamThatHasBeenIdleIsAsked() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0)) {
            client.launch(function(client), 0, new byte[2 * Long.BYTES]);
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            assertEquals(1, executor.driver.launches.get(),
                    () -> "error " + client.segment().takeCallError() + " " + client.segment().contextError());
            Thread.sleep(20);
            executor.driver.calls.clear();
            mark(client);
            assertTrue(executor.driver.calls.contains("cuStreamQuery"), executor.driver.calls.toString());
            assertFalse(executor.driver.calls.contains(WRITTEN), executor.driver.calls.toString());
        }
    }

    @Test
    void theLastMarkOfAProgramIsWrittenWhenItsWorkIsDoneAndLookedAt() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0, UNWATCHED)) {
            client.launch(function(client), 0, new byte[2 * Long.BYTES]);
            executor.driver.calls.clear();
            executor.driver.held = true;
            value++;
            client.send(RecordKind.MARK, 0, false, RelayTestClient.CONTEXT, RelayLayout.FLAG_WAITED | RelayLayout.FLAG_LAST,
                    RelayTestClient.mark(RelayLayout.ALL_STREAMS, value, WORD));
            Thread.sleep(50);
            assertEquals(value - 1, client.segment().word(WORD), "its work goes on");
            executor.driver.held = false;
            RelayTestClient.await(() -> client.segment().word(WORD) == value, "the last mark");
            assertFalse(executor.driver.calls.contains(WRITTEN), "the executor writes it, behind the lines");
        }
    }

    /** Its work was found done before its mark was submitted: it has no part in what ends the context later. */
    @Test
    void whoseWorkIsDoneIsNotBlamedForAnothersFault() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient idle = executor.client("a", 0, UNWATCHED);
                RelayTestClient culprit = executor.client("b", 0, UNWATCHED)) {
            idle.launch(function(idle), 0, new byte[2 * Long.BYTES]);
            assertEquals(0, idle.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            Thread.sleep(20);
            executor.driver.calls.clear();
            mark(idle);
            assertFalse(executor.driver.calls.contains(WRITTEN), executor.driver.calls.toString());
            executor.driver.lost = CudaResult.ILLEGAL_ADDRESS;
            assertEquals(CudaResult.ILLEGAL_ADDRESS, culprit.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            RelayTestClient.await(() -> idle.segment().contextError() != 0, "the loss is told");
            assertEquals(CudaResult.CONTEXT_IS_DESTROYED, idle.segment().contextError());
        }
    }

    /** Whether a mark comes less than a microsecond after a launch is the machine's affair: some do. */
    @Test
    void behindFreshWorkTheDeviceWrites() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0, UNWATCHED)) {
            long function = function(client);
            executor.driver.launchNs = LAUNCH_NS;
            RelayTestClient.await(() -> {
                executor.driver.calls.clear();
                client.launch(function, 0, new byte[2 * Long.BYTES]);
                mark(client);
                return executor.driver.calls.contains(WRITTEN);
            }, "a word written by the device right behind a launch");
        }
    }
}
