package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.interpret.Interpreter;
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
@Timeout(120)
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
    void close() {
        processor.close();
    }

    private static String kernel(String before, String end) {
        return KERNEL.replace("BEFORE", before).replace("END", end);
    }

    private LaunchOutcome run() {
        byte[] parameters = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(out).array();
        return processor.launch(module.kernel("k"), new LaunchSpec(new Dim3(2, 1, 1), new Dim3(THREADS, 1, 1), new Dim3(2, 1, 1), 0, parameters,
                false), text -> {}, new GridControl());
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
    @CsvSource(delimiter = '|', value = {"ret | 0", "trap | 1"})
    void othersOfABlockDoNotWaitForThoseThatHaveEnded(String end, int violations) throws Exception {
        String some = "setp.eq.u32 %p3, %r1, 20;\n@%p3 " + end + ";\nbar.sync 0;";
        load(true, FenceMode.MASK, kernel(some, "ret"));
        assertEquals(LaunchOutcome.COMPLETED, run());
        assertEquals(2 * violations, window.violations().size());
        for (int i = 0; i < THREADS; i++) {
            assertEquals(i == 5 ? 0 : 70, RealMemory.getInt(out + 4L * i));
        }
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
