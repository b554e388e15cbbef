package io.tessera.software.kernels.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
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
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The barrier of a cluster as fenced kernels have it, in modules that reach into no other block. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterBarrierTest {
    private static final int MOST_PHASES = 300;
    private static final Dim3 THREADS = new Dim3(8, 4, 2);
    private static final int COUNTS = 0;
    private static final int EXPECTED = 4 * MOST_PHASES;
    private static final int ERRORS = 2 * EXPECTED;
    /** A word for each thread: in how many phases it arrives, and behind that whether it waits in the last one. */
    private static final int ROLES = ERRORS + 8;
    private static final String HEAD = """
            .version 8.6
            .target sm_90
            .address_size 64
            FUNCTION
            .visible .entry k(.param .u64 all)
            {
            .reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %d<6>;
            .shared .align 4 .b8 near[256];
            ld.param.u64 %d1, [all];
            mov.u32 %r1, %tid.x;
            mov.u32 %r2, %tid.y;
            mad.lo.u32 %r1, %r2, 8, %r1;
            mov.u32 %r2, %tid.z;
            mad.lo.u32 %r1, %r2, 32, %r1;
            mov.u32 %r2, %ctaid.x;
            mad.lo.u32 %r1, %r2, 64, %r1;
            """;
    /** Each phase has a count: each thread that arrives has added one before, and a thread that has waited finds what all have added. */
    private static final String PHASES = HEAD + """
            mul.wide.u32 %d2, %r1, 4;
            add.u64 %d2, %d1, %d2;
            ld.global.u32 %r3, [%d2+ROLES];
            and.b32 %r4, %r3, 1;
            shr.u32 %r3, %r3, 1;
            mov.u32 %r5, 0;
            LOOP:
            setp.ge.u32 %p1, %r5, %r3;
            @%p1 exit;
            mad.lo.u32 %r6, %r5, 7, %r1;
            and.b32 %r6, %r6, 31;
            LATE:
            sub.u32 %r6, %r6, 1;
            setp.gt.s32 %p2, %r6, 0;
            @%p2 bra LATE;
            mul.wide.u32 %d3, %r5, 4;
            add.u64 %d3, %d1, %d3;
            red.global.add.u32 [%d3], 1;
            ARRIVE
            add.u32 %r5, %r5, 1;
            setp.eq.u32 %p3, %r5, %r3;
            setp.eq.and.u32 %p3, %r4, 0, %p3;
            @%p3 exit;
            WAIT
            ld.volatile.global.u32 %r7, [%d3];
            ld.global.u32 %r8, [%d3+EXPECTED];
            setp.ne.u32 %p4, %r7, %r8;
            @%p4 red.global.add.u32 [%d1+ERRORS], 1;
            red.global.add.u32 [%d1+DONE], 1;
            bra LOOP;
            }
            """.replace("ROLES", "" + ROLES).replace("EXPECTED", "" + EXPECTED).replace("ERRORS", "" + ERRORS).replace("DONE", "" + (ERRORS + 4));
    private static final String ARRIVE = "barrier.cluster.arrive;\n";
    private static final String WAIT = "barrier.cluster.wait;\n";

    private final Interpreter interpreter = new Interpreter();
    private SoftwareProcessor processor;
    private FenceWindow window;
    private LoadedModule module;
    private long all;

    private void load(boolean compiled, FenceMode mode, String text) throws Exception {
        processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
        window = new FenceWindow(processor, mode);
        all = window.allocate(1 << 16);
        module = window.load(text.replace("FUNCTION\n", ""));
    }

    @AfterEach
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void close() {
        processor.close();
    }

    private LaunchOutcome run(int blocks) {
        byte[] parameters = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(all).array();
        Dim3 cluster = new Dim3(blocks, 1, 1);
        return processor.launch(module.kernel("k"), new LaunchSpec(cluster, THREADS, cluster, FencedModule.CLUSTER_BYTES, parameters, false),
                text -> {}, new GridControl());
    }

    /** Threads that come to as many phases as it falls out, of which some end before they arrive, and others after it. Phases are more than 8 bits count. */
    private void phases(int blocks, int most, String arrive, String wait, boolean compiled, FenceMode mode, String function) throws Exception {
        load(compiled, mode, PHASES.replace("ARRIVE\n", arrive).replace("WAIT\n", wait).replace("FUNCTION\n", function));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int threads = (int) THREADS.count();
        int ended = random.nextInt(3) - 1; // all of a block's, or of none
        int[] expected = new int[MOST_PHASES];
        int waits = 0;
        for (int thread = 0; thread < blocks * threads; thread++) {
            int bound = thread / threads == ended ? 3 : most + 1;
            int phases = random.nextInt(4) == 0 ? bound - 1 : random.nextInt(bound);
            boolean stays = random.nextBoolean();
            RealMemory.putInt(all + ROLES + 4L * thread, 2 * phases + (stays ? 1 : 0));
            for (int phase = 0; phase < phases; phase++) {
                expected[phase]++;
            }
            waits += phases == 0 || stays ? phases : phases - 1;
        }
        for (int phase = 0; phase < MOST_PHASES; phase++) {
            RealMemory.putInt(all + COUNTS + 4L * phase, 0);
            RealMemory.putInt(all + EXPECTED + 4L * phase, expected[phase]);
        }
        RealMemory.putInt(all + ERRORS, 0);
        RealMemory.putInt(all + ERRORS + 4, 0);
        assertEquals(LaunchOutcome.COMPLETED, run(blocks));
        assertEquals(0, RealMemory.getInt(all + ERRORS), "seed " + seed);
        assertEquals(waits, RealMemory.getInt(all + ERRORS + 4), "seed " + seed);
        assertTrue(window.violations().isEmpty());
    }

    @ParameterizedTest
    @CsvSource({"1,9,false", "1,9,true", "2,9,true", "3,20,true", "4,20,false", "8,9,true", "2,299,true", "3,299,false"})
    void whoWaitsFindsWhatAllHaveDoneBefore(int blocks, int most, boolean compiled) throws Exception {
        phases(blocks, most, ARRIVE, WAIT, compiled, FenceMode.MASK, "");
    }

    @ParameterizedTest
    @CsvSource({"MASK,.relaxed,.acquire", "MODULO,.release,.acquire", "CHECK,.release.aligned,.acquire.aligned"})
    void formsOfTheBarrier(FenceMode mode, String arrival, String wait) throws Exception {
        phases(3, 9, "barrier.cluster.arrive" + arrival + ";\n", "barrier.cluster.wait" + wait + ";\n", true, mode, "");
    }

    /** A thread that arrives in a function that is called has waited when it returns. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void functionsThatAreCalled(boolean compiled) throws Exception {
        String functions = ".func both() { " + ARRIVE + WAIT + "ret; }\n.func arrival() { " + ARRIVE + "ret; }\n";
        phases(2, 9, "call both;\n", "", compiled, FenceMode.MASK, functions);
        close();
        phases(3, 9, "call arrival;\n", WAIT, compiled, FenceMode.MASK, functions);
    }

    /** Threads that end by a fault count as those that return do. */
    @ParameterizedTest
    @ValueSource(strings = {"trap", "exit"})
    void whoEndsHoldsUpNobody(String end) throws Exception {
        load(true, FenceMode.MASK,
                HEAD + "and.b32 %r3, %r1, 3;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 " + end + ";\nsetp.eq.u32 %p1, %r3, 2;\n" + "@%p1 " + ARRIVE
                        + "@%p1 " + end + ";\nbar.sync 0;\n" + ARRIVE + WAIT + "red.global.add.u32 [%d1], 1;\nret;\n}\n");
        assertEquals(LaunchOutcome.COMPLETED, run(3));
        assertEquals(3 * THREADS.count() / 2, RealMemory.getInt(all));
        assertEquals(end.equals("exit"), window.violations().isEmpty());
    }

    /**
     * Some threads never come to the barrier; in the second case they wait at their block's for those who are at the cluster's, in the third one most threads
     * of the first block have ended.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"LOOP: ld.volatile.global.u32 %r5, [%d1]; bra LOOP;", "bar.sync 0;",
            "@%p2 exit; LOOP: ld.volatile.global.u32 %r5, [%d1]; bra LOOP;"})
    void theStopWordEndsThoseWhoWait(String others) throws Exception {
        load(true, FenceMode.MASK, HEAD + "setp.lt.u32 %p1, %r1, 5;\nsetp.gt.u32 %p2, %r1, 2;\n@!%p1 bra WAITS;\n" + others + "\nWAITS: " + ARRIVE
                + WAIT + "bar.sync 0;\nret;\n}\n");
        CompletableFuture<LaunchOutcome> launch = CompletableFuture.supplyAsync(() -> run(2));
        TimeUnit.MILLISECONDS.sleep(200);
        assertFalse(launch.isDone());
        RealMemory.putInt(window.stopWord, 0);
        assertEquals(LaunchOutcome.COMPLETED, launch.get(60, TimeUnit.SECONDS));
    }
}
