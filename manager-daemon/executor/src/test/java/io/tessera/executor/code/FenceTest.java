package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.report.ReportPage;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Modules as an executor loads them, over a fake driver: fenced, filled, shown as they were, and kept apart. */
@Timeout(300)
class FenceTest {
    private static final byte[] PTX = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .global .align 4 .u32 counter = 5;
            .visible .global .align 8 .u64 pointer = counter;
            .visible .global .align 4 .b8 zeros[100000];
            .visible .entry work(.param .u64 to, .param .u64 number)
            {
                .reg .b64 %rd<3>;
                ld.param.u64 %rd1, [to];
                cvta.to.global.u64 %rd1, %rd1;
                ld.param.u64 %rd2, [number];
                st.global.u64 [%rd1], %rd2;
                ret;
            }
            """.concat("\0").getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private static FenceSettings settings(UnfencedPolicy policy, boolean fenceAlone, int timeoutS) {
        return new FenceSettings(FenceChoice.MASK, policy, fenceAlone, timeoutS, timeoutS);
    }

    private static FenceSettings fenced() {
        return settings(UnfencedPolicy.REFUSE, true, 0);
    }

    private static int load(RelayTestClient client, byte[] image) {
        return client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0));
    }

    private static long module(RelayTestClient client) {
        assertEquals(0, load(client, PTX));
        return client.outLong(0);
    }

    private static long function(RelayTestClient client, long module) {
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        long function = client.outLong(0);
        assertEquals(0, client.query(QueryKind.FUNCTION, function));
        return function;
    }

    private static byte[] longs(long... values) {
        return MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE);
    }

    private static int global(RelayTestClient client, long module, String name) {
        return client.call(DriverEntry.cuModuleGetGlobal_v2, outBytes(8), outBytes(8), value(module), text(name));
    }

    private static MemorySegment memory(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    @Test
    void theFencesOwnConstantsAreNotAmongAKernels() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            long function = function(client, module(client));
            assertEquals(0, client.query(QueryKind.FUNCTION, function));
            assertTrue(executor.driver.constants.size() > 1, executor.driver.constants::toString);
            assertEquals(FakeDriver.CONSTANT_BYTES, MemorySegment.ofArray(client.out()).get(ValueLayout.JAVA_INT_UNALIGNED, 8));
        }
    }

    /** Returns the constants of the window of the only loaded module. */
    private static MemorySegment window(RunningExecutor executor) {
        return executor.driver.constants.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(WindowConstants.NAME + "@")).map(Map.Entry::getValue)
                .findFirst().orElseThrow();
    }

    /** An image that is whole and holds machine code alone. */
    private static byte[] machineCode() {
        byte[] elf = new byte[64];
        MemorySegment.copy(MemorySegment.ofArray(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33}), 0,
                MemorySegment.ofArray(elf), 0, 8);
        return elf;
    }

    @Test
    void variablesLieInTheWindowWithWhatTheyHeldAndTheProgramSeesThemAsItsOwn() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, fenced())) {
            long module = module(client);
            assertEquals(0, global(client, module, "counter"));
            long counter = client.outLong(0);
            assertEquals(4, client.outLong(8));
            assertEquals(5, (int) executor.driver.pages.getLong(counter));
            assertEquals(0, global(client, module, "pointer"));
            assertEquals(counter, executor.driver.pages.getLong(client.outLong(0)));
            assertEquals(0, global(client, module, "zeros"));
            assertEquals(100_000, client.outLong(8));
            for (long at = 0; at + 8 <= 100_000; at += 8) {
                assertEquals(0, executor.driver.pages.getLong(client.outLong(0) + at), "byte " + at);
            }
            MemorySegment window = window(executor);
            long base = window.get(ValueLayout.JAVA_LONG, 8);
            long bytes = window.get(ValueLayout.JAVA_LONG, 16);
            assertTrue(counter >= base && counter < base + bytes, Long.toHexString(counter));
            assertEquals(CudaResult.NOT_FOUND, global(client, module, WindowConstants.NAME));
            assertEquals(CudaResult.NOT_FOUND, global(client, module, "__tessera_at_counter"));
            assertEquals(CudaResult.NOT_FOUND, global(client, module, "nothing"));
            assertEquals(0, client.call(DriverEntry.cuMemcpyHtoDAsync_v2, value(counter), in(longs(77)), value(4), value(0)),
                    "it is memory of the client");
            assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
            assertEquals(400, global(client, module, "counter"));
            assertEquals(0, executor.driver.alive("module"));
        }
    }

    @Test
    void whatCannotBeReadOrFencedIsRefusedWithTheReason() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, fenced())) {
            assertEquals(218, load(client, ".version 8.0\n.target sm_50\n.address_size 64\nrubbish\0"
                    .getBytes(StandardCharsets.US_ASCII)));
            assertTrue(client.segment().notices().contains("PTX"), client.segment().notices());
            assertEquals(801, load(client, (".version 8.0\n.target sm_50\n.address_size 64\n"
                    + ".visible .global .u32 __tessera_x;\n\0").getBytes(StandardCharsets.US_ASCII)));
            assertEquals(0, load(client, PTX), "the next one is loaded");
        }
    }

    @ParameterizedTest
    @EnumSource(UnfencedPolicy.class)
    void machineCodeFollowsTheTenantsPolicy(UnfencedPolicy policy) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(policy, true, 0))) {
            int result = load(client, machineCode());
            assertEquals(policy == UnfencedPolicy.OWN ? 0 : CudaResult.NO_BINARY_FOR_GPU, result);
            assertEquals(policy == UnfencedPolicy.TIME, client.segment().isAskedForTimeSharing());
            boolean told = policy == UnfencedPolicy.REFUSE || policy == UnfencedPolicy.TRUSTED;
            assertEquals(told, client.segment().notices().contains("cannot be fenced"), client.segment().notices());
            if (policy == UnfencedPolicy.OWN) {
                RelayTestClient.await(() -> executor.told().contains("\"unfenced\":1"), "the count of unfenced images");
            }
        }
    }

    @Test
    void whatTheDriverDoesNotLoadAsItIsTheUserIsTold() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.OWN, true, 0))) {
            executor.driver.lost = CudaResult.NO_BINARY_FOR_GPU;
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, load(client, machineCode()));
            executor.driver.lost = 0;
            assertTrue(client.segment().notices().contains("does not load it as it is either (error " + CudaResult.NO_BINARY_FOR_GPU
                    + "); compile it with PTX inside (nvcc -gencode "),
                    client.segment().notices());
        }
    }

    @Test
    void whyPtxCannotBeFencedTheUserIsToldWhereItDoesNotRunAsItIsEither() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.OWN, true, 0))) {
            executor.driver.lost = CudaResult.NO_BINARY_FOR_GPU;
            assertEquals(CudaResult.NOT_SUPPORTED, load(client, (".version 8.0\n.target sm_50\n.address_size 64\n"
                    + ".visible .global .u32 __tessera_x;\n\0").getBytes(StandardCharsets.US_ASCII)));
            executor.driver.lost = 0;
            String told = client.segment().notices();
            assertTrue(told.contains("__tessera_x") && told.contains(", and unfenced it fails too: ")
                    && told.contains("--share time"), told);
        }
    }

    @Test
    void aProgramThatHasLaunchedIsNotStartedAgain() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.TIME, true, 0))) {
            client.launch(function(client, module(client)), 0, longs(0, 0));
            client.synchronise(0, 1, 2);
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, load(client, machineCode()));
            assertFalse(client.segment().isAskedForTimeSharing());
            assertTrue(client.segment().notices().contains("--share time"), client.segment().notices());
        }
    }

    @Test
    void pointersOfKernelsThatNothingFencesAreChecked() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.OWN, true, 0));
                RelayTestClient other = executor.client("b", 0, settings(UnfencedPolicy.OWN, true, 0))) {
            assertEquals(0, load(client, machineCode()));
            long function = function(client, client.outLong(0));
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            long own = client.outLong(0);
            assertEquals(0, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            long foreign = other.outLong(0);
            client.launch(function, 0, longs(own, 7));
            client.synchronise(0, 1, 2);
            assertEquals(1, executor.driver.launches.get());
            client.launch(function, 0, longs(foreign, 7));
            client.synchronise(0, 1, 4);
            assertEquals(1, executor.driver.launches.get());
            assertEquals(1, client.segment().takeCallError());
        }
    }

    @Test
    void whatAKernelReportsIsThatClientsErrorAlone() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, fenced())) {
            long function = function(client, module(client));
            MemorySegment area = memory(window(executor).get(ValueLayout.JAVA_LONG, 32), ReportArea.BYTES);
            try (RelayTestClient other = executor.client("b", 0, fenced())) {
                area.set(ValueLayout.JAVA_INT, 64 + 8, 12);
                area.set(ValueLayout.JAVA_LONG, 64 + 16, 0xdead0L);
                area.set(ValueLayout.JAVA_INT, 64, ReportArea.Kind.ADDRESS.code());
                area.set(ValueLayout.JAVA_INT, 0, 1);
                client.launch(function, 0, longs(0, 0));
                RelayTestClient.await(() -> client.segment().contextError() == CudaResult.ILLEGAL_ADDRESS, "the error");
                assertTrue(client.segment().notices().contains("0xdead0"), client.segment().notices());
                assertEquals(CudaResult.ILLEGAL_ADDRESS, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
                assertEquals(0, other.segment().contextError());
                assertEquals(0, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            }
            client.disconnect();
            RelayTestClient.await(() -> executor.driver.alive("module") == 0, "what it had is freed all the same");
        }
    }

    /** The word that a thread of fenced machine code writes before it ends: the number of its image, and the reason. */
    @ParameterizedTest
    @CsvSource({"1, 710, assertion", "2, 719, trap"})
    void whatMachineCodeReportsIsThatClientsErrorAlone(int reason, int error, String word) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, fenced())) {
            long function = function(client, module(client));
            MemorySegment report = memory(window(executor).get(ValueLayout.JAVA_LONG, 32) + ReportPage.MACHINE_WORD, Integer.BYTES);
            try (RelayTestClient other = executor.client("b", 0, fenced())) {
                report.set(ValueLayout.JAVA_INT, 0, MachineFence.of(1L << 40, 1L << 40).reporting(64, 9).reported(reason));
                client.launch(function, 0, longs(0, 0));
                RelayTestClient.await(() -> client.segment().contextError() == error, "the error");
                assertTrue(client.segment().notices().contains(word), client.segment().notices());
                assertEquals(0, other.segment().contextError());
                assertEquals(0, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            }
        }
    }

    @Test
    void anEndlessKernelIsToldToEndAndTheClientHearsOfIt() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE, true, 1));
                RelayTestClient other = executor.client("b", 0, fenced())) {
            long function = function(client, module(client));
            MemorySegment stop = memory(window(executor).get(ValueLayout.JAVA_LONG, 40), 4);
            assertEquals(WindowConstants.GO_ON, stop.get(ValueLayout.JAVA_INT, 0));
            executor.driver.held = true;
            client.launch(function, 0, longs(0, 0));
            RelayTestClient.await(() -> client.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "the timeout");
            RelayTestClient.await(() -> stop.get(ValueLayout.JAVA_INT, 0) == 0, "the stop word, which is written once the client knows");
            assertTrue(client.segment().notices().contains("work"), client.segment().notices());
            executor.driver.held = false;
            assertEquals(0, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            assertEquals(0, other.segment().contextError());
        }
    }

    /** A loop without fences whose counter runs over, for example: the word that ends kernels is not looked at there. */
    @Test
    void anEndlessKernelThatDoesNotLookEndsTheExecutorInItsTenantsName() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE, false, 1))) {
            long function = function(client, module(client));
            executor.driver.held = true;
            client.launch(function, 0, longs(0, 0));
            RelayTestClient.await(() -> client.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "the timeout");
            assertFalse(executor.awaitEnd(), "it has not ended as it was told to");
            assertTrue(executor.told().contains("\"tenant\":\"a\"") && executor.told().contains("did not end within 15 s"), executor.told());
            executor.driver.held = false;
        }
    }

    @Test
    void aNewcomerWaitsUntilWhatRanUnfencedOfTheOneWhoWasAloneIsDone() throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder);
                RelayTestClient first = executor.client("a", 0, settings(UnfencedPolicy.OWN, false, 0))) {
            long function = unfenced(executor, first);
            executor.driver.held = true;
            Set<Long> before = launched(executor, first, function);
            CompletableFuture<RelayTestClient> second = new CompletableFuture<>();
            newcomer(executor, second);
            awaitEvent(executor, before, second);
            assertFalse(second.isDone(), "it came in beside a kernel without a fence");
            executor.driver.held = false;
            try (RelayTestClient other = second.get(40, TimeUnit.SECONDS)) {
                assertEquals(0, other.segment().contextError());
            }
        }
    }

    /** Unfenced work at the time of a new client that left again proves nothing about later launches. */
    @Test
    void theNextNewcomerWaitsAlsoForWhatRanUnfencedAfterOneHadLeft() throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder);
                RelayTestClient first = executor.client("a", 0, settings(UnfencedPolicy.OWN, false, 0))) {
            long function = unfenced(executor, first);
            executor.driver.held = true;
            Set<Long> before = launched(executor, first, function);
            CompletableFuture<RelayTestClient> left = new CompletableFuture<>();
            Thread newcomer = newcomer(executor, left);
            awaitEvent(executor, before, left);
            newcomer.interrupt();
            assertTrue(newcomer.join(Duration.ofSeconds(40)) && left.isCompletedExceptionally(), "it came in beside a kernel without a fence");
            // The executor has seen the end of that connection before it serves a later one. It belongs to the same tenant, so no client waits for it.
            executor.client("a", 0, settings(UnfencedPolicy.OWN, false, 0)).disconnect();
            executor.driver.doneEvents.addAll(executor.driver.made("event"));
            before = launched(executor, first, function);
            CompletableFuture<RelayTestClient> second = new CompletableFuture<>();
            newcomer(executor, second);
            awaitEvent(executor, before, second);
            assertFalse(second.isDone(), "it came in beside a kernel without a fence");
            executor.driver.held = false;
            second.get(40, TimeUnit.SECONDS).close();
        }
    }

    /** A kernel that is launched without a fence from now on. */
    private static long unfenced(RunningExecutor executor, RelayTestClient client) throws Exception {
        long function = function(client, module(client));
        RelayTestClient.await(() -> {
            launched(executor, client, function);
            return executor.driver.alive("library") == 2; // text is loaded so, also as a module
        }, "the same kernel without a fence");
        return function;
    }

    /** Launches it, and answers the events that there are then. */
    private static Set<Long> launched(RunningExecutor executor, RelayTestClient client, long function) {
        long before = executor.driver.launches.get();
        client.launch(function, 0, longs(0, 0));
        RelayTestClient.await(() -> executor.driver.launches.get() > before, "the launch");
        return executor.driver.made("event");
    }

    /** Waits until there is an event behind the work that a newcomer waits for, or the newcomer is in. */
    private static void awaitEvent(RunningExecutor executor, Set<Long> before, CompletableFuture<RelayTestClient> newcomer) {
        RelayTestClient.await(() -> newcomer.isDone() || !before.containsAll(executor.driver.made("event")), "an event behind the kernel");
    }

    private static Thread newcomer(RunningExecutor executor, CompletableFuture<RelayTestClient> client) {
        return Thread.ofPlatform().start(() -> {
            try {
                client.complete(executor.client("b", 0, fenced()));
            } catch (Exception e) {
                client.completeExceptionally(e);
            }
        });
    }
}
