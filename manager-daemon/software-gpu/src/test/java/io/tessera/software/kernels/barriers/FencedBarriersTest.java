package io.tessera.software.kernels.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.launch.StopWord;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that meet where they must not, or wait for others that never come: none of it ends more than themselves. */
@Timeout(180)
class FencedBarriersTest {
    private static final int THREADS = 96;

    private final Interpreter interpreter = new Interpreter();
    private SoftwareProcessor processor;
    private FenceWindow window;
    private long out;

    private LoadedKernel load(boolean compiled, String statements) throws Exception {
        processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
        window = new FenceWindow(processor, FenceMode.MASK);
        out = window.allocate(THREADS * Integer.BYTES);
        return window.load(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
                + ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\n"
                + "mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d1, %d1, %d2;\n" + statements + "\n}\n").kernel("k");
    }

    @AfterEach
    void close() {
        processor.close();
    }

    private LaunchOutcome run(LoadedKernel kernel, int threads) {
        byte[] parameters = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(out).array();
        return processor.launch(kernel, new LaunchSpec(new Dim3(1, 1, 1), new Dim3(threads, 1, 1), null, 0, parameters,
                false), text -> {}, new GridControl());
    }

    private List<Integer> results(int threads) {
        return IntStream.range(0, threads).map(i -> RealMemory.getInt(out + 4L * i)).boxed().toList();
    }

    @Test
    void theStopWordIsWhereFencedModulesSay() throws Exception {
        assertEquals(WindowConstants.NAME, StopWord.CONSTANTS);
        assertEquals(WindowConstants.BYTES, StopWord.CONSTANTS_BYTES);
        LoadedKernel kernel = load(false, "ret;");
        long constants = kernel.variables().globals().get(StopWord.CONSTANTS).address();
        assertEquals(window.stopWord, RealMemory.getLong(constants + StopWord.OFFSET));
    }

    /** The first warp waits for a second one at a barrier that no other warp reaches. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoWaitsForOthersIsEndedByTheStopWord(boolean compiled) throws Exception {
        LoadedKernel kernel = load(compiled, "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra first;\nbar.sync 0;\nbra done;\n"
                + "first:\nbar.sync 1, 64;\ndone:\nst.global.u32 [%d1], 1;\nret;");
        CompletableFuture<LaunchOutcome> launch = CompletableFuture.supplyAsync(() -> run(kernel, THREADS));
        TimeUnit.MILLISECONDS.sleep(50);
        assertFalse(launch.isDone(), () -> launch + ", " + window.violations());
        RealMemory.putInt(window.stopWord, 0);
        assertEquals(LaunchOutcome.COMPLETED, launch.get(30, TimeUnit.SECONDS));
        assertEquals(List.of(), window.violations());
        // Threads that waited for the whole block go on: threads that ended count as there.
        assertFalse(results(32).contains(1));
    }

    @Test
    void noBlockBeginsOnceItsTenantIsToEnd() throws Exception {
        LoadedKernel kernel = load(false, "st.global.u32 [%d1], 1;\nret;");
        RealMemory.putInt(window.stopWord, 0);
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, THREADS));
        assertFalse(results(THREADS).contains(1));
        RealMemory.putInt(window.stopWord, WindowConstants.GO_ON);
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, THREADS));
        assertFalse(results(THREADS).contains(0));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void halvesOfAWarpAtTwoBarriersEnd(boolean compiled) throws Exception {
        LoadedKernel kernel = load(compiled, "and.b32 %r2, %r1, 16;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra lower;\n"
                + "barrier.sync 2, 32;\nret;\nlower:\nbarrier.sync 1, 32;\nret;");
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, 64));
        assertEquals(List.of(ReportArea.Kind.BARRIER),
                window.violations().stream().map(ReportArea.Violation::kind).distinct().toList());
    }

    /** Producers and consumers, the last warp not whole. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void wholeWarpsAtSeveralBarriersGoOn(boolean compiled) throws Exception {
        LoadedKernel kernel = load(compiled, "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra first;\nbar.arrive 1, 96;\nbar.sync 2, 96;\n"
                + "bra done;\nfirst:\nbar.sync 1, 96;\nbar.arrive 2, 96;\ndone:\nbar.sync 0;\nst.global.u32 [%d1], 1;\nret;");
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, 75));
        assertEquals(List.of(), window.violations());
        assertTrue(results(75).stream().allMatch(value -> value == 1));
    }

    @Test
    void aBarrierWaitsForNoMoreThreadsThanTheBlockHas() throws Exception {
        LoadedKernel kernel = load(false, "bar.sync 1, 1024;\nst.global.u32 [%d1], 1;\nret;");
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, 64));
        assertTrue(results(64).stream().allMatch(value -> value == 1));
    }

    @Test
    void theLaneThatAsksIsAmongItsMembers() throws Exception {
        LoadedKernel kernel = load(false, "mov.u32 %r2, %lanemask_gt;\nsetp.ne.u32 %p1, %r1, 99;\n"
                + "and.b32 %r3, %r1, 31;\nsetp.eq.u32 %p2, %r3, 31;\n@!%p2 exit;\nvote.sync.ballot.b32 %r4, %p1, %r2;\n"
                + "vote.sync.ballot.b32 %r5, %p1, 0;\nand.b32 %r4, %r4, %r5;\nst.global.u32 [%d1], %r4;\nret;");
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, 32));
        assertEquals(1 << 31, RealMemory.getInt(out + 4 * 31));
    }

    /** A rank that there is not: what is read is some block's of the cluster. */
    @Test
    void aBlockBeyondTheClusterIsNotReached() throws Exception {
        LoadedKernel kernel = load(false, ".shared .align 8 .b64 small[32];\nmov.u32 %r2, small;\nmov.u32 %r3, 1000;\n"
                + "mapa.shared::cluster.u32 %r4, %r2, %r3;\nld.shared::cluster.u64 %d3, [%r4];\n"
                + "cvt.u64.u32 %d4, %r2;\ncvta.shared.u64 %d4, %d4;\nmapa.u64 %d5, %d4, 1000;\nld.u64 %d3, [%d5];\nret;");
        assertEquals(LaunchOutcome.COMPLETED, run(kernel, 32));
        assertEquals(List.of(), window.violations());
    }

    private static final String EARLY = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n"
            + ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 8;\n@%p1 ret;\n"
            + "mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d1, %d1, %d2;\nbar.sync 0;\nst.global.u32 [%d1], 1;\nCALL\nret;\n}\n";
    private static final String NUMBERED = ".func numbered(.param .b32 n)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [n];\nbarrier.sync %r1;\nret;\n}\n";
    private static final String CALLED = "{\n.param .b32 n;\nst.param.b32 [n], %r1;\ncall numbered, (n);\n}\n";

    /** One warp, of which lanes return: with more, others would wait for it until the stop word ends them. */
    private List<ReportArea.Violation> early(String before, String call, String after) throws Exception {
        load(true, "ret;");
        String head = EARLY.substring(0, EARLY.indexOf(".visible"));
        String text = head + before + EARLY.substring(head.length()).replace("CALL", call) + after;
        run(window.load(text).kernel("k"), 32);
        return window.violations();
    }

    /** A legal kernel: lanes that have returned do not count at its one barrier. Other kernels of its module do not change that. */
    @Test
    void aKernelWithOneBarrierPaysForNobodyElses() throws Exception {
        String other = ".visible .entry other(.param .u32 n)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [n];\nbarrier.sync %r1;\n" + CALLED
                + "ret;\n}\n";
        assertEquals(List.of(), early(NUMBERED, "", other));
        assertEquals(8, results(THREADS).stream().filter(value -> value == 1).count());
    }

    /** Where it meets the numbered barrier itself, by a call or perhaps by a pointer, its lanes are watched. */
    @Test
    void aKernelThatReachesANumberedBarrierIsWatched() throws Exception {
        assertEquals(List.of(ReportArea.Kind.BARRIER), early(NUMBERED, CALLED, "").stream().map(ReportArea.Violation::kind).distinct().toList());
        processor.close();
        String through = ".func through()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 3;\n" + CALLED + "ret;\n}\n";
        assertEquals(List.of(ReportArea.Kind.BARRIER),
                early(NUMBERED + through, "mov.u64 %d3, through;\np: .callprototype _ ();\ncall %d3, (), p;", "")
                        .stream().map(ReportArea.Violation::kind).distinct().toList());
    }
}
