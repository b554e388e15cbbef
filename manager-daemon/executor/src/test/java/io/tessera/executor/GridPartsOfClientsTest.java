package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Launches that come in parts, over a fake driver: what a client does to their records, and which of them come so. */
@Timeout(300)
class GridPartsOfClientsTest {
    private static final byte[] PTX = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry work(.param .u64 to, .param .u64 number)
            {
                .reg .b64 %rd<3>;
                .reg .b32 %r<2>;
                ld.param.u64 %rd1, [to];
                cvta.to.global.u64 %rd1, %rd1;
                mov.u32 %r1, %ctaid.x;
                st.global.u32 [%rd1], %r1;
                ret;
            }
            """.concat("\0").getBytes(StandardCharsets.US_ASCII);
    private static final int[] HUGE = {1 << 24, 1, 1};

    @TempDir
    Path folder;

    private RelayTestClient client;
    private long function;
    private long stream;

    private void open(RunningExecutor executor) throws Exception {
        executor.driver.slices.blocksHeld = 1;
        client = executor.client("one", 1L << 30, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, 0));
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0)));
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(client.outLong(0)), text("work")));
        function = client.outLong(0);
        Set<Long> others = executor.driver.made("stream");
        assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        stream = client.outLong(0);
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        executor.driver.heldStreams.removeAll(others);
    }

    private void launch(int... grid) {
        client.launch(function, stream, new byte[16], grid, 1, 0);
    }

    /** The stream is held, so that the second part in it waits for the first. */
    private static void awaitParts(RunningExecutor executor, long before) {
        RelayTestClient.await(() -> executor.driver.launches.get() == before + 2, "the first parts");
    }

    @Test
    void aStreamThatEndsBetweenPartsGetsNoMore() throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder)) {
            open(executor);
            long before = executor.driver.launches.get();
            launch(HUGE);
            awaitParts(executor, before);
            long head = client.segment().consumed() & RelayLayout.RING_BYTES - 1;
            int length = RecordHeader.lengthAcquire(client.segment().ring(), head);
            RecordHeader.lengthRelease(client.segment().ring(), head, -length); // half of the change would be a launch of nothing
            Thread.sleep(20); // the thread that copies the record now has done so then
            client.segment().ring().set(WireTypes.U64, head + RecordHeader.BYTES, stream);
            RecordHeader.write(client.segment().ring(), head, RecordKind.CALL, DriverEntry.cuStreamDestroy_v2.ordinal(), 0, RelayTestClient.CONTEXT,
                    0);
            RecordHeader.lengthRelease(client.segment().ring(), head, length);
            RelayTestClient.await(() -> (client.segment().consumed() & RelayLayout.RING_BYTES - 1) != head, "the record to be taken");
            executor.driver.release();
            launch(HUGE);
            assertEquals(CudaResult.INVALID_HANDLE, client.call(DriverEntry.cuStreamDestroy_v2, value(stream)), "it has ended");
            assertEquals(before + 2, executor.driver.launches.get());
        }
    }

    /** Both are seen to be done at once, which says nothing of how long they take. */
    @Test
    void partsThatEndTogetherAreFollowedByParts() throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder)) {
            open(executor);
            long before = executor.driver.launches.get();
            launch(HUGE);
            awaitParts(executor, before);
            executor.driver.release();
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)), "the call behind it");
            assertTrue(executor.driver.launches.get() > before + 4, () -> executor.driver.launches.get() - before + " launches");
        }
    }

    /** What the stream waits for may be what the next record does. */
    @Test
    void whatDoesNotMoveIsLaunchedWithoutWaiting() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder)) {
            open(executor);
            long before = executor.driver.launches.get();
            launch(HUGE);
            awaitParts(executor, before);
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)), "the call behind it");
            assertEquals(before + 3, executor.driver.launches.get(), "the rest in one");
            executor.driver.release();
        }
    }

    /** Launches as a whole are timed: of a kernel that takes 1 ms for 4,096 blocks, 2^20 take a quarter of a second, and of one with 8 ms two seconds. */
    @ParameterizedTest
    @CsvSource({"1, false", "8, true"})
    void aLargerGridOfAKernelThatTookLongComesInParts(float elapsedMs, boolean inParts) throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder)) {
            open(executor);
            executor.driver.slices.elapsedMs = elapsedMs;
            long before = executor.driver.launches.get();
            launch(1 << 12, 1, 1);
            launch(1 << 20, 1, 1);
            if (inParts) {
                awaitParts(executor, before + 1);
            } else {
                assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)), "the call behind it");
                assertEquals(before + 2, executor.driver.launches.get(), "both as a whole");
            }
            executor.driver.release();
        }
    }

    /** The driver has refused a launch of it before: how long its blocks take is as unknown as it was. */
    @Test
    void aRefusedLaunchIsNotTimed() throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder)) {
            open(executor);
            long before = executor.driver.launches.get();
            executor.driver.slices.launchError = CudaResult.LAUNCH_OUT_OF_RESOURCES;
            launch(1 << 12, 1, 1);
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)), "the call behind it");
            executor.driver.slices.launchError = 0;
            launch(HUGE);
            awaitParts(executor, before);
            executor.driver.release();
        }
    }

    @Test
    void aGridThatIsRefusedAsAWholeDoesNotComeInParts() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder)) {
            open(executor);
            executor.driver.release();
            long before = executor.driver.launches.get();
            launch(1 << 20, 1 << 10, 4);
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)));
            assertEquals(before, executor.driver.launches.get());
            launch(32, 1 << 16, 1); // more in y than a driver takes
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)));
            assertEquals(before + 1, executor.driver.launches.get(), "the driver is asked once");
        }
    }
}
