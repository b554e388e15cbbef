package io.tessera.software.compile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes bytecode and what does not; state over stops inside inlined calls; loops that wait for each other. */
@Timeout(180)
class KernelCompilerTest {
    private static final String HEADER = """
            .version 8.0
            .target sm_90
            .address_size 64
            """;
    private static final int THREADS = 64;

    private final KernelCompiler compiler = new KernelCompiler(new Interpreter(), System::nanoTime);

    /** Runs one block whose only argument is a buffer with a word per thread, and returns the buffer. */
    private int[] run(String ptx, String name) throws Exception {
        try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(16L << 20, 0,
                DeviceLimits.of(1), compiler, DeviceClock.system()))) {
            long buffer = processor.memory().allocate(4L * THREADS);
            RealMemory.fill(buffer, 4L * THREADS, (byte) 0);
            LoadedKernel kernel = processor.load(HEADER + ptx).kernel(name);
            byte[] parameters = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(buffer).array();
            processor.launch(kernel, LaunchSpec.of(new Dim3(1, 1, 1), new Dim3(THREADS, 1, 1), 0, parameters),
                    text -> {}, new GridControl());
            int[] result = new int[THREADS];
            for (int i = 0; i < THREADS; i++) {
                result[i] = RealMemory.getInt(buffer + 4L * i);
            }
            return result;
        }
    }

    private static int[] expected(java.util.function.IntUnaryOperator value) {
        return java.util.stream.IntStream.range(0, THREADS).map(value).toArray();
    }

    private static String kernel(String body) {
        return """
                .visible .entry k(.param .u64 out)
                {
                .reg .b32 %r<10>;
                .reg .b64 %rd<4>;
                .reg .f32 %f<4>;
                .reg .pred %p<4>;
                ld.param.u64 %rd1, [out];
                mov.u32 %r1, %tid.x;
                mad.wide.u32 %rd2, %r1, 4, %rd1;
                """ + body + "st.global.u32 [%rd2], %r2;\nret;\n}\n";
    }

    @Test
    void registersSurviveAStopInsideAnInlinedCallInALoop() throws Exception {
        String function = """
                .func (.param .b32 result) neighbour(.param .b32 value)
                {
                .reg .b32 %r<4>;
                ld.param.u32 %r1, [value];
                shfl.sync.idx.b32 %r2, %r1, 5, 31, -1;
                bar.sync 0;
                add.s32 %r3, %r2, %r1;
                st.param.b32 [result], %r3;
                ret;
                }
                """;
        int[] result = run(function + kernel("""
                mov.u32 %r2, 1000;
                mov.u32 %r3, 0;
                mov.f32 %f1, 0f3F000000;
                LOOP:
                {
                .param .b32 argument;
                .param .b32 returned;
                st.param.b32 [argument], %r1;
                call.uni (returned), neighbour, (argument);
                ld.param.b32 %r4, [returned];
                }
                add.s32 %r2, %r2, %r4;
                add.f32 %f1, %f1, 0f3F000000;
                add.s32 %r3, %r3, 1;
                setp.lt.s32 %p1, %r3, 3;
                @%p1 bra LOOP;
                cvt.rzi.s32.f32 %r5, %f1;
                add.s32 %r2, %r2, %r5;
                """), "k");
        assertArrayEquals(expected(i -> 1000 + 3 * (i + (i & 32) + 5) + 2), result);
        assertEquals(1, compiler.counters().compiledKernels());
        assertTrue(compiler.counters().compileNs() > 0);
        assertTrue(compiler.counters().classBytes() > 0);
    }

    @Test
    void aThreadThatSpinsLetsOthersRun() throws Exception {
        int[] result = run(kernel("""
                setp.eq.u32 %p1, %r1, 63;
                mov.u32 %r2, 7;
                @%p1 st.volatile.global.u32 [%rd1+252], 7;
                SPIN:
                ld.volatile.global.u32 %r3, [%rd1+252];
                setp.ne.u32 %p2, %r3, 7;
                @%p2 bra SPIN;
                """), "k");
        assertArrayEquals(expected(i -> 7), result);
        assertEquals(Map.of(), compiler.counters().interpretedByReason());
    }

    @Test
    void rareInstructionsKeepTheKernelCompiled() throws Exception {
        int[] result = run(kernel("""
                .shared .align 8 .b64 gate;
                mov.u32 %r6, gate;
                setp.eq.u32 %p1, %r1, 0;
                @%p1 mbarrier.init.shared.b64 [%r6], 64;
                bar.sync 0;
                mbarrier.arrive.shared.b64 %rd3, [%r6];
                WAIT:
                mbarrier.test_wait.shared.b64 %p2, [%r6], %rd3;
                @!%p2 bra WAIT;
                add.u16x2 %r2, 0x00010001, %r1;
                """), "k");
        assertArrayEquals(expected(i -> 0x10001 + i), result);
        assertEquals(Map.of(), compiler.counters().interpretedByReason());
    }

    @Test
    void recursionIsInterpretedAndCounted() throws Exception {
        String function = """
                .func (.param .b32 result) sum(.param .b32 n)
                {
                .reg .b32 %r<5>;
                .reg .pred %p;
                ld.param.u32 %r1, [n];
                mov.u32 %r4, 0;
                setp.eq.u32 %p, %r1, 0;
                @%p bra END;
                {
                .param .b32 argument;
                .param .b32 returned;
                sub.s32 %r2, %r1, 1;
                st.param.b32 [argument], %r2;
                call.uni (returned), sum, (argument);
                ld.param.b32 %r3, [returned];
                }
                add.s32 %r4, %r3, %r1;
                END:
                st.param.b32 [result], %r4;
                ret;
                }
                """;
        int[] result = run(function + kernel("""
                {
                .param .b32 argument;
                .param .b32 returned;
                st.param.b32 [argument], %r1;
                call.uni (returned), sum, (argument);
                ld.param.b32 %r2, [returned];
                }
                """), "k");
        assertArrayEquals(expected(i -> i * (i + 1) / 2), result);
        assertEquals(Map.of("recursion through sum", 1L), compiler.counters().interpretedByReason());
        assertEquals(Map.of("k", "recursion through sum"), compiler.counters().reasonByKernel());
    }

    @Test
    void whatOutgrowsAMethodIsInterpretedAndStillRight() throws Exception {
        String step = "fma.rz.f32 %f1, %f1, 0f3F800000, 0f3F800000;\n@%p1 add.s32 %r2, %r2, 3;\n";
        int[] result = run(kernel("mov.u32 %r2, 0;\nmov.f32 %f1, 0f00000000;\nsetp.lt.u32 %p1, %r1, 32;\n"
                + step.repeat(1900)), "k");
        assertArrayEquals(expected(i -> i < 32 ? 5700 : 0), result);
        assertEquals(1, compiler.counters().compiledKernels() + compiler.counters().reasonByKernel().size());
        int[] larger = run(kernel("mov.u32 %r2, 0;\nmov.f32 %f1, 0f00000000;\nsetp.lt.u32 %p1, %r1, 32;\n"
                + step.repeat(2500)), "k");
        assertArrayEquals(expected(i -> i < 32 ? 7500 : 0), larger);
        assertEquals(Map.of("k", "more than 4000 instructions"), compiler.counters().reasonByKernel());
    }
}
