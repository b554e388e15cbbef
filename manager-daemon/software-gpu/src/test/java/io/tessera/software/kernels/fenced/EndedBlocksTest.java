package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks of a cluster that end while others still reach into their shared memory. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndedBlocksTest {
    private static final int THREADS = 64;
    /** The second block reads what the first one left, again and again, and the first one ends as soon as it has left it. */
    private static final String KERNEL = """
            .version 8.6
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u64 out)
            {
            .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;
            .shared .align 4 .b8 left[256];
            ld.param.u64 %d1, [out];
            mov.u32 %r1, %tid.x;
            shl.b32 %r1, %r1, 2;
            mov.u32 %r2, left;
            add.u32 %r2, %r2, %r1;
            st.shared.u32 [%r2], 7;
            mov.u32 %r3, %cluster_ctarank;
            setp.eq.u32 %p1, %r3, 0;
            BEFORE
            @%p1 END;
            mapa.shared::cluster.u32 %r4, %r2, 0;
            mov.u32 %r5, 0;
            mov.u32 %r7, 0;
            LOOP:
            ld.volatile.shared::cluster.u32 %r6, [%r4];
            add.u32 %r7, %r7, %r6;
            add.u32 %r5, %r5, 1;
            setp.lt.u32 %p2, %r5, 10;
            @%p2 bra LOOP;
            cvt.u64.u32 %d2, %r1;
            add.u64 %d1, %d1, %d2;
            st.global.u32 [%d1], %r7;
            ret;
            }
            """;

    private final Interpreter interpreter = new Interpreter();
    private SoftwareProcessor processor;
    private FenceWindow window;
    private LoadedModule module;
    private long out;

    private void load(boolean compiled, FenceMode mode, String text) throws Exception {
        processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
        window = new FenceWindow(processor, mode);
        out = window.allocate(4L * THREADS);
        module = window.load(text);
    }

    @AfterEach
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void close() {
        processor.close();
    }

    private static String kernel(String before, String end) {
        return KERNEL.replace("BEFORE", before).replace("END", end);
    }

    private LaunchOutcome run() {
        return run(2);
    }

    /** In one cluster of this many blocks. */
    private LaunchOutcome run(int blocks) {
        byte[] parameters = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(out).array();
        Dim3 cluster = new Dim3(blocks, 1, 1);
        return processor.launch(module.kernel("k"),
                new LaunchSpec(cluster, new Dim3(THREADS, 1, 1), cluster, FencedModule.CLUSTER_BYTES, parameters, false),
                text -> {}, new GridControl());
    }

    /** As on a GPU: without this the other tests show nothing. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAccessToABlockThatHasEndedIsAFault(boolean compiled) throws Exception {
        load(compiled, FenceMode.NONE, kernel("", "ret"));
        assertTrue(assertThrows(KernelFault.class, this::run).getCause().getMessage().contains("which has ended"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ret    | false | false", "ret | true | false", "exit | true | false", "trap | false | true",
            "trap | true | true",
            "bra DONE; mov.u32 %r8, 1; bra GO; DONE: barrier.cluster.arrive; exit; GO: mov.u32 %r8, 2 | true | false"})
    void aBlockStaysUntilNobodyReachesIntoIt(String end, boolean compiled, boolean reports) throws Exception {
        load(compiled, FenceMode.MASK, kernel("", end));
        assertEquals(LaunchOutcome.COMPLETED, run());
        for (int i = 0; i < THREADS; i++) {
            assertEquals(70, RealMemory.getInt(out + 4L * i));
        }
        assertEquals(reports, !window.violations().isEmpty());
        assertTrue(window.violations().stream().allMatch(violation -> violation.kind() == ReportArea.Kind.TRAP));
    }

    /** Barriers that the second block comes to alone, between which it reaches into the first one. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void barriersOfTheProgramDoNotLetABlockEnd(int barriers) throws Exception {
        String alone = "mapa.shared::cluster.u32 %r4, %r2, 0;";
        String again = "barrier.cluster.arrive;\nbarrier.cluster.wait;\nld.shared::cluster.u32 %r6, [%r4];\n";
        load(true, FenceMode.MASK, kernel("", "ret").replace(alone, alone + again.repeat(barriers)));
        assertEquals(LaunchOutcome.COMPLETED, run());
        assertEquals(70, RealMemory.getInt(out));
    }

    /** Threads that have ended do not count at the barrier of their block, as without fences. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ret | 0 | 5", "trap | 1 | 5", "exit | 0 | 0", "trap | 1 | 0"})
    void othersOfABlockDoNotWaitForThoseThatHaveEnded(String end, int violations, int thread) throws Exception {
        String some = "setp.eq.u32 %p3, %r1, " + 4 * thread + ";\n@%p3 " + end + ";\nbar.sync 0;";
        load(true, FenceMode.MASK, kernel(some, "ret"));
        assertEquals(LaunchOutcome.COMPLETED, run());
        assertEquals(2 * violations, window.violations().size());
        for (int i = 0; i < THREADS; i++) {
            assertEquals(i == thread ? 0 : 70, RealMemory.getInt(out + 4L * i));
        }
    }

    /** One thread of a block arrives and ends, before others of the block come to their barrier and to the cluster's. */
    @Test
    void whoHasArrivedAndEndsHoldsUpNobody() throws Exception {
        String some = "setp.eq.u32 %p3, %r1, 20;\n@%p3 barrier.cluster.arrive;\n@%p3 exit;\nbar.sync 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;";
        load(true, FenceMode.MASK, kernel(some, "ret"));
        assertEquals(LaunchOutcome.COMPLETED, run());
        assertEquals(70, RealMemory.getInt(out));
    }

    /** Two arrivals without a wait, and two waits without an arrival, which end the context of a GPU. */
    @ParameterizedTest
    @ValueSource(strings = {"barrier.cluster.arrive;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;",
            "barrier.cluster.wait;\nbarrier.cluster.wait;"})
    void barriersThatMayNotBe(String barriers) throws Exception {
        load(true, FenceMode.MASK, kernel(barriers, "ret"));
        assertEquals(LaunchOutcome.COMPLETED, run());
        assertEquals(70, RealMemory.getInt(out));
    }

    @Test
    void aBlockThatEndsLongBeforeAnother() throws Exception {
        load(true, FenceMode.MASK, kernel("", "ret").replace("%r5, 10;", "%r5, 20000;"));
        assertEquals(LaunchOutcome.COMPLETED, run(8));
        assertEquals(140_000, RealMemory.getInt(out));
    }

    /** Each block adds what its left neighbour had in the pass before to what it has. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void neighboursExchangeInALoop(boolean compiled) throws Exception {
        int blocks = 4;
        int passes = 9;
        String sync = "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";
        String exchange = """
                add.u32 %r3, %r3, 3;
                and.b32 %r8, %r3, 3;
                mapa.shared::cluster.u32 %r4, %r2, %r8;
                mov.u32 %r3, %cluster_ctarank;
                st.shared.u32 [%r2], %r3;
                mov.u32 %r5, 0;
                LOOP:
                SYNC
                ld.shared::cluster.u32 %r6, [%r4];
                SYNC
                ld.shared.u32 %r7, [%r2];
                add.u32 %r7, %r7, %r6;
                st.shared.u32 [%r2], %r7;
                add.u32 %r5, %r5, 1;
                setp.lt.u32 %p2, %r5, PASSES;
                """.replace("SYNC\n", sync).replace("PASSES", Integer.toString(passes));
        String text = kernel("", "mov.u32 %r8, 0");
        text = text.substring(0, text.indexOf("mapa")) + exchange
                + text.substring(text.indexOf("@%p2 bra LOOP")).replace("st.global", "setp.eq.u32 %p3, %r3, 1;\n@%p3 st.global");
        load(compiled, FenceMode.MASK, text);
        assertEquals(LaunchOutcome.COMPLETED, run(blocks));
        int[] values = {0, 1, 2, 3};
        for (int pass = 0; pass < passes; pass++) {
            int[] before = values.clone();
            for (int block = 0; block < blocks; block++) {
                values[block] += before[(block + 3) % blocks];
            }
        }
        assertEquals(values[1], RealMemory.getInt(out));
        assertEquals(values[1], RealMemory.getInt(out + 4L * (THREADS - 1)));
    }

    /** Stores to all addresses that a block's memory can have, of what this program has there; behind it are the words that count threads and blocks. */
    @ParameterizedTest
    @ValueSource(strings = {"st.shared.u32 [%r5], 7;", "st.volatile.shared.u32 [%r5+8], 7;", "st.shared.v4.u32 [%r5], {%r6, %r6, %r6, %r6};",
            "atom.shared.exch.b32 %r7, [%r5], 7;", "red.shared.max.u32 [%r5], 7;", "st.shared::cluster.u32 [%r5], 7;",
            "mapa.shared::cluster.u32 %r7, %r5, 0; st.shared::cluster.u32 [%r7], 7;",
            "mapa.shared::cluster.u32 %r7, %r5, 1; red.shared::cluster.max.u32 [%r7], 7;",
            "cvt.u64.u32 %d3, %r5; cvta.shared.u64 %d3, %d3; st.u32 [%d3], 7;",
            "cvt.u64.u32 %d3, %r5; cvta.shared.u64 %d3, %d3; mapa.u64 %d3, %d3, 0; atom.exch.b32 %r7, [%d3], 7;",
            "cp.async.ca.shared.global [%r5], [%d1], 4;", "st.shared.u8 [%r5], 7;"})
    void noAccessComesToTheCounts(String access) throws Exception {
        String all = "mov.u32 %r5, 0;\nmov.u32 %r6, 7;\nALL: " + access + "\nadd.u32 %r5, %r5, 4;\nsetp.lt.u32 %p3, %r5, 4096;\n@%p3 bra ALL;\n"
                + "cp.async.wait_all;\nbar.sync 0;";
        load(true, FenceMode.MASK, kernel(all, "ret"));
        for (int i = 0; i < THREADS; i++) {
            RealMemory.putInt(out + 4L * i, 7); // what the copies make of it
        }
        assertEquals(LaunchOutcome.COMPLETED, run());
        for (int i = 0; i < THREADS; i++) {
            assertEquals(70, RealMemory.getInt(out + 4L * i));
        }
    }

    /** As a program asks for it: what is behind it is not its own. */
    @ParameterizedTest
    @ValueSource(strings = {"%dynamic_smem_size", "%total_smem_size"})
    void aProgramIsToldOfNoMoreThanItHas(String size) throws Exception {
        String text = kernel("mov.u32 %r7, " + size + ";", "ret").replace("mov.u32 %r7, 0;", "").replace("add.u32 %r7, %r7, %r6;", "");
        load(true, FenceMode.MASK, text);
        assertEquals(LaunchOutcome.COMPLETED, run());
        assertEquals(size.startsWith("%dynamic") ? 0 : 256, RealMemory.getInt(out));
    }

    /** The first block looks at the stop word more often than the second. */
    @Test
    void theStopWordEndsBlocksTogether() throws Exception {
        String first = "@!%p1 bra SECOND;\nFIRST: st.volatile.shared.u32 [%r2], 7;\nbra FIRST;\nSECOND:";
        load(true, FenceMode.MASK, kernel(first, "ret").replace("setp.lt.u32 %p2, %r5, 10", "setp.ne.u32 %p2, %r6, 8"));
        CompletableFuture<LaunchOutcome> launch = CompletableFuture.supplyAsync(this::run);
        TimeUnit.MILLISECONDS.sleep(200);
        assertFalse(launch.isDone());
        RealMemory.putInt(window.stopWord, 0);
        assertEquals(LaunchOutcome.COMPLETED, launch.get(60, TimeUnit.SECONDS));
    }
}
