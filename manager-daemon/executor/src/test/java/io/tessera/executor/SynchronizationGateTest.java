package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
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
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A driver that waits for all streams of the context in some calls, and lets nobody submit meanwhile: streams that wait for
 * their programs and kernels that do not end must not keep others waiting by that.
 */
@Timeout(300)
class SynchronizationGateTest {
    private static final int TIMEOUT_S = 1;
    /** Where in its page the word is that ends a client's kernels. */
    private static final long STOP = 3072;
    private static final byte[] PTX = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry work(.param .u64 to, .param .u64 number)
            {
                .reg .b64 %rd<3>;
                ld.param.u64 %rd1, [to];
                ld.param.u64 %rd2, [number];
                st.global.u64 [%rd1], %rd2;
                ret;
            }
            """.concat("\0").getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;
    private RunningExecutor executor;
    private RelayTestClient first;
    private RelayTestClient other;
    private RelayTestClient third;
    private long firstStream;
    private long firstMemory;
    private long thirdMemory;

    @BeforeEach
    void open() throws Exception {
        executor = new RunningExecutor(folder);
        first = executor.client("first", 0, settings(TIMEOUT_S));
        other = executor.client("other", 0, settings(TIMEOUT_S));
        third = executor.client("third", 0, settings(TIMEOUT_S));
        firstStream = stream(first);
        firstMemory = memory(first);
        thirdMemory = memory(third);
        stream(third); // and those that every client has
        executor.driver.synchronizing = true;
    }

    @AfterEach
    void close() throws Exception {
        executor.driver.release();
        first.close();
        other.close();
        third.close();
        executor.close();
    }

    private static FenceSettings settings(int seconds) {
        return new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, seconds);
    }

    private static long stream(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        return client.outLong(0);
    }

    private static long memory(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(4096)));
        return client.outLong(0);
    }

    /** A module is loaded when something of it is needed. */
    private static long load(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0)));
        long module = client.outLong(0);
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        return client.outLong(0);
    }

    private void launch(RelayTestClient client, long function, long stream, long memory) {
        client.launch(function, stream, MemorySegment.ofArray(new long[] {memory, 7}).toArray(ValueLayout.JAVA_BYTE));
        memory(client); // an answer: it was carried out
    }

    /** From now on streams of the driver that exist are not done, and the first client's waits for a value. */
    private void stand() {
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        assertEquals(0, first.call(DriverEntry.cuStreamWaitValue32_v2, value(firstStream), value(firstMemory), value(77), value(1)));
    }

    private void keepsNobodyWaiting(CompletableFuture<?> waits) throws Exception {
        for (int i = 0; i < 20; i++) {
            memory(third);
            Thread.sleep(10);
        }
        assertFalse(waits.isDone(), "it must wait");
        assertEquals(0, executor.driver.synchronizedWhileHeld.get());
    }

    @Test
    void whoNeedsTheWholeContextWaitsForWhoWaitsForItsProgramAndNobodyElseDoes() throws Exception {
        long function = load(third);
        stand();
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(other));
        keepsNobodyWaiting(loads);
        launch(third, function, 0, memory(third));
        executor.driver.release();
        assertTrue(loads.get() != 0);
        assertEquals(0, executor.driver.synchronizedWhileHeld.get());
    }

    @Test
    void waitsOfWhoIsGoneEndAndLetOthersIn() throws Exception {
        stand();
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(other));
        keepsNobodyWaiting(loads);
        first.disconnect();
        await(() -> executor.driver.calls.contains("cuStreamWriteValue32_v2"), "nobody ends the wait of the client that is gone");
        executor.driver.release();
        assertTrue(loads.get() != 0);
        assertEquals(0, executor.driver.synchronizedWhileHeld.get());
    }

    @Test
    void whoKeepsOthersWaitingForTooLongIsEnded() throws Exception {
        stand();
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(other));
        keepsNobodyWaiting(loads);
        await(() -> executor.driver.wordsWritten.contains(firstMemory), "its wait is not ended");
        assertEquals(CudaResult.LAUNCH_TIMEOUT, first.segment().contextError());
        executor.driver.release();
        assertTrue(loads.get() != 0);
        assertEquals(0, executor.driver.synchronizedWhileHeld.get());
        assertEquals(0, third.segment().contextError());
    }

    @Test
    void whoWaitsWhileNobodyNeedsAnythingMayWait() throws Exception {
        stand();
        Thread.sleep(TIMEOUT_S * 2500L);
        assertEquals(0, first.segment().contextError());
        memory(first);
    }

    @Test
    void ownWaitsKeepOnlyTheirOwnProgram() throws Exception {
        stand();
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(first));
        keepsNobodyWaiting(loads);
        executor.driver.release();
        assertTrue(loads.get() != 0);
        assertEquals(0, executor.driver.synchronizedWhileHeld.get());
    }

    @Test
    void whoGoesWhileItWaitsForItselfIsGone() throws Exception {
        stand();
        first.post(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0));
        first.post(DriverEntry.cuMemHostUnregister, value(0));
        first.disconnect();
        await(() -> executor.driver.calls.contains("cuStreamWriteValue32_v2"), "nobody ends the wait of the client that is gone");
        executor.driver.release();
        assertTrue(load(other) != 0);
        assertEquals(0, executor.driver.synchronizedWhileHeld.get());
    }

    private boolean isToldToEnd() {
        return executor.driver.own.reportPages().stream().skip(1)
                .anyMatch(page -> MemorySegment.ofAddress(page).reinterpret(STOP + 4).get(ValueLayout.JAVA_INT, STOP) == 0);
    }

    /** Its own thread is inside the call that waits for the kernel, and so cannot end it. */
    @Test
    void aKernelThatDoesNotEndIsEndedWhileItsProgramLoadsAModule() throws Exception {
        assertEquals(0, first.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0)));
        long module = first.outLong(0);
        assertEquals(0, first.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        long function = first.outLong(0);
        assertFalse(isToldToEnd());
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        launch(first, function, firstStream, firstMemory);
        CompletableFuture<Integer> loads = CompletableFuture.supplyAsync(() -> first.call(DriverEntry.cuModuleUnload, value(module)));
        CompletableFuture<Long> later = CompletableFuture.supplyAsync(() -> load(other));
        await(this::isToldToEnd, "nobody ends the kernel");
        executor.driver.release();
        assertTrue(later.get() != 0);
        loads.get();
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "it is not told");
        assertEquals(0, other.segment().contextError());
        assertEquals(0, third.segment().contextError());
    }

    /** The executor's writes into the next module wait behind the kernel, and its program's thread for them. */
    @Test
    void aKernelThatDoesNotEndIsEndedWhileItsProgramWaitsForAModulesConstants() throws Exception {
        long function = load(first);
        executor.driver.synchronizing = false;
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        launch(first, function, firstStream, firstMemory);
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(first));
        await(this::isToldToEnd, "nobody ends the kernel");
        executor.driver.release();
        loads.exceptionally(_ -> 0L).get();
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "it is not told");
        assertEquals(0, third.segment().contextError());
    }

    /** Its own work is done, which its thread has not seen, because it waits for what the executor writes behind the kernel. */
    @Test
    void whoWaitsForAModulesConstantsIsNotTakenForTheOneWhoseWorkIsNextForLongest() throws Exception {
        long function = load(first);
        long others = load(other);
        executor.driver.synchronizing = false;
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        long free = stream(other);
        launchUnseen(other, others, free);
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(other));
        Thread.sleep(20);
        launch(first, function, firstStream, firstMemory);
        await(this::isToldToEnd, "nobody ends the kernel");
        executor.driver.release();
        assertTrue(loads.get() != 0);
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "it is not told");
        assertEquals(0, other.segment().contextError());
    }

    /** Short kernels share an event that is recorded behind the last of them, and the endless one is not the last. */
    @Test
    void aKernelThatDoesNotEndIsEndedAlsoWithoutAnEventOfItsOwn() throws Exception {
        assertEquals(0, first.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0)));
        long module = first.outLong(0);
        assertEquals(0, first.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        long function = first.outLong(0);
        for (int burst = 0; burst < 5; burst++) {
            IntStream.range(0, 500).forEach(_ -> launchUnseen(first, function, firstStream));
            memory(first);
            Thread.sleep(300); // it is looked for what is done
        }
        launchUnseen(first, function, firstStream); // has an event, because the last one was long ago
        launchUnseen(first, function, firstStream);
        memory(first);
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        launchUnseen(first, function, firstStream);
        CompletableFuture<Integer> loads = CompletableFuture.supplyAsync(() -> first.call(DriverEntry.cuModuleUnload, value(module)));
        await(this::isToldToEnd, "nobody ends the kernel");
        executor.driver.release();
        loads.get();
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "it is not told");
        assertEquals(0, other.segment().contextError());
    }

    private void launchUnseen(RelayTestClient client, long function, long stream) {
        client.launch(function, stream, MemorySegment.ofArray(new long[] {firstMemory, 7}).toArray(ValueLayout.JAVA_BYTE));
    }

    /** A driver may keep everybody out, also a thread that asks whether work is done, and in calls from which nobody expects it. */
    @Test
    void aKernelThatDoesNotEndIsEndedWhileTheDriverAnswersNobody() throws Exception {
        long function = load(first);
        executor.driver.questionsWait = true;
        executor.driver.alsoSynchronizing.addAll(List.of(DriverEntry.cuStreamCreate, DriverEntry.cuStreamCreateWithPriority));
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        launch(first, function, firstStream, firstMemory);
        CompletableFuture<Long> made = CompletableFuture.supplyAsync(() -> stream(other));
        await(this::isToldToEnd, "nobody ends the kernel");
        assertFalse(made.isDone());
        executor.driver.release();
        assertTrue(made.get() != 0);
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "it is not told");
        assertEquals(0, other.segment().contextError());
        assertEquals(0, third.segment().contextError());
    }

    /** Else the executor would take its streams, which wait for a program that nobody serves any more, for kernels that do not end. */
    @Test
    void waitsOfWhoIsEndedForAKernelAreEndedToo() throws Exception {
        long function = load(first);
        long beside = stream(first);
        stand();
        executor.driver.heldStreams.add(executor.driver.made("stream").stream().max(Long::compare).orElseThrow());
        launch(first, function, beside, firstMemory);
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "the kernel is not ended");
        await(() -> executor.driver.calls.contains("cuStreamWriteValue32_v2"), "its wait is not ended");
    }

    @Test
    void whoIsNotLateIsNotEndedByALongCall() throws Exception {
        long function = load(first);
        launch(first, function, firstStream, firstMemory);
        executor.driver.heldStreams.add(-1L); // somebody's that nobody knows
        CompletableFuture<Long> loads = CompletableFuture.supplyAsync(() -> load(other));
        Thread.sleep(TIMEOUT_S * 3000L);
        assertFalse(isToldToEnd());
        executor.driver.release();
        assertTrue(loads.get() != 0);
    }

    /** With more streams than channels the making of one may wait for those that stand, and everybody with it. */
    @Test
    void aStreamThatWouldShareAChannelIsMadeWhenNobodyStands() throws Exception {
        for (int i = 0; i < 30; i++) {
            stream(first);
        }
        stand();
        CompletableFuture<Long> made = CompletableFuture.supplyAsync(() -> stream(other));
        keepsNobodyWaiting(made);
        executor.driver.release();
        assertTrue(made.get() != 0);
    }

    /** The work of a client that waits for nothing stands in a channel of a stream that waits: that client is not ended. */
    @Test
    void whoFillsTheChannelsWithStreamsThatStandIsEnded() throws Exception {
        long function = load(third);
        for (int i = 0; i < 30; i++) {
            stream(first);
        }
        long behind = stream(third);
        stand();
        launch(third, function, behind, thirdMemory);
        await(() -> first.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "it is not ended");
        executor.driver.release();
        Thread.sleep(TIMEOUT_S * 1500L);
        assertEquals(0, third.segment().contextError());
        memory(third);
    }
}
