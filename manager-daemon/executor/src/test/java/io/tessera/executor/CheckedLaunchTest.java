package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.filledOut;
import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.FenceSettings;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which launches get a kernel's second entry, over a fake driver that tells what was launched; and that nobody else gets it. */
@Timeout(120)
class CheckedLaunchTest {
    private static final String SECOND = "__tessera_checked_work";
    private static final String FEW = "__tessera_few_work";
    /** A pointer, and an array that has room for blocks of 256 threads. */
    private static final byte[] PTX = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry work(.param .u64 to, .param .u64 number)
            {
                .reg .b64 %rd<3>;
                .reg .b32 %r<4>;
                .shared .align 4 .b8 tile[1024];
                mov.u32 %r1, %tid.x;
                shl.b32 %r2, %r1, 2;
                mov.u32 %r3, tile;
                add.s32 %r3, %r3, %r2;
                st.shared.u32 [%r3], %r1;
                ld.param.u64 %rd1, [to];
                ld.param.u64 %rd2, [number];
                st.global.u64 [%rd1], %rd2;
                ret;
            }
            """.concat("\0").getBytes(StandardCharsets.US_ASCII);

    /** Without shared memory, so that it may run in clusters. */
    private static final byte[] LONE = new String(PTX, StandardCharsets.US_ASCII).replace("st.shared.u32 [%r3], %r1;", "").replace("mov.u32 %r3, tile;",
            "mov.u32 %r3, 0;").getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LONGER = new String(PTX, StandardCharsets.US_ASCII).replace("1024", "2048").replace("ret;", "add.u64 %rd2, %rd2, 1;\n".repeat(48) + "ret;")
            .getBytes(StandardCharsets.US_ASCII);

    /** Goes over an array by the stride of the grid. */
    private static final byte[] STRIDE = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry work(.param .u64 to, .param .u64 number)
            {
                .reg .pred %p<2>;
                .reg .b64 %rd<8>;
                .reg .b32 %r<5>;
                ld.param.u64 %rd1, [to];
                ld.param.u64 %rd2, [number];
                mov.u32 %r1, %tid.x;
                cvt.u64.u32 %rd3, %r1;
                mov.u32 %r2, %nctaid.x;
                mov.u32 %r3, %ntid.x;
                mul.lo.s32 %r4, %r2, %r3;
                cvt.u64.u32 %rd4, %r4;
            next:
                shl.b64 %rd5, %rd3, 3;
                add.s64 %rd6, %rd1, %rd5;
                st.global.u64 [%rd6], %rd2;
                add.s64 %rd3, %rd3, %rd4;
                setp.lt.u64 %p1, %rd3, %rd2;
                @%p1 bra next;
                ret;
            }
            """.concat("\0").getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private static FenceSettings settings(FenceChoice mode) {
        return new FenceSettings(mode, UnfencedPolicy.REFUSE, true, 0, 0);
    }

    private static long module(RelayTestClient client) {
        return module(client, PTX);
    }

    private static long module(RelayTestClient client, byte[] ptx) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(ptx), value(0), value(0), value(0)));
        return client.outLong(0);
    }

    private static long function(RelayTestClient client, long module) {
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        long function = client.outLong(0);
        assertEquals(0, client.query(QueryKind.FUNCTION, function));
        return function;
    }

    /** As CUDA's runtime does since 12. */
    private static long libraryKernel(RelayTestClient client, byte[] ptx) {
        assertEquals(0, client.call(DriverEntry.cuLibraryLoadData, outBytes(8), in(ptx), value(0), value(0), value(0), value(0), value(0), value(0)));
        long library = client.outLong(0);
        assertEquals(0, client.call(DriverEntry.cuLibraryGetKernel, outBytes(8), value(library), text("work")));
        long kernel = client.outLong(0);
        assertEquals(0, client.query(QueryKind.FUNCTION, kernel));
        return kernel;
    }

    private static long memory(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(4096)));
        return client.outLong(0);
    }

    private static byte[] longs(long... values) {
        return MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE);
    }

    /** What the driver is given. */
    private static String launched(RunningExecutor executor, RelayTestClient client, long function, long pointer, int threads, int flags) {
        client.launch(function, 0, longs(pointer, 7), threads, flags);
        memory(client); // an answer: the record before was carried out
        return executor.driver.launched;
    }

    private static String launched(RunningExecutor executor, RelayTestClient client, long function, long pointer, int[] grid, int threads) {
        client.launch(function, 0, longs(pointer, 7), grid, threads, 0);
        memory(client);
        return executor.driver.launched;
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO"})
    void whatKeepsToTheTermsGetsTheSecondEntry(FenceChoice mode) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0, settings(mode));
                RelayTestClient other = executor.client("b", 0, settings(mode))) {
            long function = function(client, module(client));
            long own = memory(client);
            long foreign = memory(other);
            assertEquals(SECOND, launched(executor, client, function, own, 1, 0));
            assertEquals(SECOND, launched(executor, client, function, own + 4088, 256, 0));
            assertEquals("work", launched(executor, client, function, own, 257, 0), "a block that the array has no room for");
            assertEquals("work", launched(executor, client, function, own + 4, 1, 0), "a pointer that is not aligned");
            assertEquals("work", launched(executor, client, function, foreign, 1, 0), "another's memory");
            assertEquals("work", launched(executor, client, function, 0, 1, 0), "no pointer");
            assertEquals("work", launched(executor, client, function, own - (1L << 40), 1, 0), "an address outside");
            assertEquals("work", launched(executor, client, function, own, 1, RelayLayout.FLAG_COOPERATIVE), "a cooperative launch");
            assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            long stream = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuStreamBeginCapture_v2, value(stream), value(2)));
            executor.driver.capturing = true;
            client.launch(function, stream, longs(own, 7));
            assertEquals(0, client.call(DriverEntry.cuStreamEndCapture, value(stream), outBytes(8)));
            assertEquals("work", executor.driver.launched, "a launch into a graph");
            executor.driver.capturing = false;
            client.launch(function, stream, longs(own, 7));
            memory(client);
            assertEquals(SECOND, executor.driver.launched);
        }
    }

    @ParameterizedTest
    @CsvSource({"3, 1, true", "6, 1, true", "8, 0, true", "10, 0, true", "2, 1, false", "4, 1, false", "5, 1, false", "11, 1, false", "14, 50, false",
            "63, 0, false", "64, 0, false", "-1, 0, false"})
    void attributesThatSayNothingOfBlocksLeaveIt(int attribute, int value, boolean second) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            long function = function(client, module(client, LONE));
            long own = memory(client);
            client.launchWith(function, 0, longs(own, 7), attribute, value);
            memory(client);
            assertEquals(second ? SECOND : "work", executor.driver.launched);
        }
    }

    @Test
    void kernelsOfLibrariesHaveItToo() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            long own = memory(client);
            assertEquals(SECOND, launched(executor, client, libraryKernel(client, PTX), own, 1, 0));
            long longer = libraryKernel(client, LONGER);
            assertEquals(FEW, launched(executor, client, longer, own, 1, 0));
            assertEquals("work", launched(executor, client, longer, 0, 1, 0));
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0, true", "0, 200000, true", "12, 0, true", "12, 49039, true", "12, 49040, false", "12, -1, false", "49051, 0, true", "49052, 0, false"})
    void withMoreSharedMemoryOfItsOwnItIsForLaunchesThatAskForLess(int more, int dynamic, boolean second) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            executor.driver.sharedMore = more;
            client.sharedBytes(dynamic);
            long kernel = libraryKernel(client, PTX);
            assertEquals(second ? SECOND : "work", launched(executor, client, kernel, memory(client), 1, 0));
        }
    }

    /** Another kernel may wait for this one by then, and the driver for that one. */
    @Test
    void whatWasAskedForIsLaunchedWithoutAskingForMore() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            long kernel = libraryKernel(client, LONGER);
            long own = memory(client);
            executor.driver.calls.clear();
            executor.driver.recording = true;
            assertEquals(FEW, launched(executor, client, kernel, own, 1, 0));
            executor.driver.recording = false;
            List<String> loading = executor.driver.calls.stream().filter(call -> call.startsWith("cuLibrary") || call.startsWith("cuKernel")).toList();
            assertEquals(List.of(), loading);
        }
    }

    /**
     * Of this driver's functions a thread takes 104 registers and one for few blocks has at most 256 threads in a block; its 48 multiprocessors
     * have 65,536 registers each, so two such blocks.
     */
    @Test
    void gridsOfWhichAllBlocksRunAtOnceGetTheEntryForFew() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            long function = function(client, module(client, LONGER));
            long own = memory(client);
            assertEquals(FEW, launched(executor, client, function, own, 1, 0));
            assertEquals(FEW, launched(executor, client, function, own, new int[] {8, 4, 3}, 256));
            assertEquals(SECOND, launched(executor, client, function, own, new int[] {97, 1, 1}, 256), "one block more than run at once");
            assertEquals(FEW, launched(executor, client, function, own, new int[] {97, 1, 1}, 128), "smaller ones");
            assertEquals(SECOND, launched(executor, client, function, own, 257, 0), "a block that it has too many registers for");
            assertEquals("work", launched(executor, client, function, own, 513, 0), "and one that the array has no room for");
            assertEquals(SECOND, launched(executor, client, function, own, new int[] {-1, -1, -1}, 32), "numbers of any size");
            assertEquals("work", launched(executor, client, function, 0, 1, 0), "its terms are the same");
            assertEquals(0, client.call(DriverEntry.cuFuncSetAttribute, value(function), value(8), value(4096)));
            assertEquals(FEW, launched(executor, client, function, own, 1, 0));
        }
    }

    @Test
    void ofCodeWithoutFencesThatOfLoopsWhoeverThePointersBelongTo() throws Exception {
        FenceSettings alone = new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, false, 0, 0);
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0, alone)) {
            long function = function(client, module(client, STRIDE));
            long own = memory(client);
            RelayTestClient.await(() -> launched(executor, client, function, 0, 1, 0).equals(SECOND), "the code without fences");
            client.launch(function, 0, longs(own, 1L << 40));
            memory(client);
            assertEquals("work", executor.driver.launched, "a loop that could take for ever is one that can be ended");
            try (RelayTestClient other = executor.client("b", 0, alone)) {
                memory(other);
                assertEquals("work", launched(executor, client, function, 0, 1, 0), "beside others pointers are looked at, too");
                assertEquals(SECOND, launched(executor, client, function, own, 1, 0));
            }
        }
    }

    @Test
    void otherModesHaveNone() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.CHECK))) {
            assertEquals("work", launched(executor, client, function(client, module(client)), memory(client), 1, 0));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theProgramDoesNotSeeIt(boolean few) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            executor.driver.kernels = few ? List.of(SECOND, FEW, "work") : List.of(SECOND, "work");
            long module = module(client, few ? LONGER : PTX);
            function(client, module);
            assertEquals(500, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text(SECOND)));
            assertEquals(500, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text(FEW)));
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunctionCount, outBytes(4), value(module)));
            assertEquals(1, (int) client.outLong(0));
            for (int most = 1; most <= 3; most++) {
                assertEquals(0, client.call(DriverEntry.cuModuleEnumerateFunctions, outBytes(8 * most), value(most), value(module)));
                for (int i = 0; i < most; i++) {
                    long listed = client.outLong(8 * i);
                    assertEquals(i == 0, listed != 0, "place " + i + " of " + most);
                }
                client.launch(client.outLong(0), 0, longs(0, 0));
                memory(client);
                assertEquals("work", executor.driver.launched);
            }
        }
    }

    /** What stands behind the last kernel of a list is no kernel, whatever the client wrote there. */
    @Test
    void whatAClientWritesWhereResultsBelongIsNoHandle() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            executor.driver.kernels = List.of(SECOND, "work");
            long module = module(client);
            byte[] forged = new byte[24];
            Arrays.fill(forged, (byte) 0x41);
            assertEquals(0, client.call(DriverEntry.cuModuleEnumerateFunctions, filledOut(forged), value(3), value(module)));
            assertTrue(client.outLong(0) != 0, "the program's own kernel");
            assertEquals(0, client.outLong(8));
            assertEquals(0, client.outLong(16));
            // This driver says success and writes nothing.
            assertEquals(0, client.call(DriverEntry.cuGraphEventWaitNodeGetEvent, value(0), filledOut(Arrays.copyOf(forged, 8))));
            assertEquals(0, client.outLong(0));
            // What an update says of nodes is read also where the driver refuses it.
            executor.driver.lost = 1;
            assertEquals(1, client.call(DriverEntry.cuGraphExecUpdate_v2, value(0), value(0), filledOut(forged)));
            executor.driver.lost = 0;
            assertEquals(0, client.outLong(8));
            assertEquals(0, client.outLong(16));
        }
    }

    @Test
    void aNumberThatWasAnotherKernelsIsNoWayToIt() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(FenceChoice.MASK))) {
            long gone = module(client);
            function(client, gone);
            long number = executor.driver.lastFunction;
            assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(gone)));
            long module = module(client);
            function(client, module);
            executor.driver.reuse = number;
            assertEquals(0, client.call(DriverEntry.cuModuleEnumerateFunctions, outBytes(16), value(2), value(module)));
            assertEquals(0, client.outLong(8), "the second entry had the number of a kernel that the program knew");
        }
    }
}
