package io.tessera.software.kernels.barriers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Barriers with numbers and counts: fenced kernels keep them in shared memory, and compute what they do with the device's. */
@Timeout(300)
class NamedBarriersTest {
    private static final int BLOCKS = 3;
    private static final int ROUNDS = 24;

    private static final String HEAD = """
            .version 8.5
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u64 out)
            {
                .shared .align 16 .b8 slots[4096];
                .reg .b32 %r<24>;
                .reg .b64 %d<6>;
                .reg .pred %p<8>;
                ld.param.u64 %d1, [out];
                mov.u32 %r1, %tid.x;
                mov.u32 %r2, %ntid.x;
                mov.u32 %r3, %ctaid.x;
                mad.lo.u32 %r4, %r3, %r2, %r1;
                mul.wide.u32 %d2, %r4, 4;
                add.u64 %d3, %d1, %d2;
                mov.u32 %r5, slots;
                mad.lo.u32 %r6, %r1, 4, %r5;
                mov.u32 %r7, 0;
                mov.u32 %r8, 0;
            """;

    /** Two warps make, two take and add up, in two buffers in turn: a barrier says full, another says empty. */
    private static final String PIPELINE = HEAD + """
                setp.ge.u32 %p1, %r1, 64;
                @%p1 bra take;
            make:
                setp.lt.u32 %p2, %r7, 2;
                and.b32 %r9, %r7, 1;
                add.u32 %r10, %r9, 3;
                @%p2 bra free;
                barrier.cta.sync %r10, 128;
            free:
                mul.lo.u32 %r11, %r7, 1000;
                add.u32 %r11, %r11, %r4;
                mad.lo.u32 %r12, %r9, 256, %r6;
                st.shared.u32 [%r12], %r11;
                add.u32 %r13, %r9, 1;
                barrier.cta.arrive %r13, 128;
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p3, %r7, ROUNDS;
                @%p3 bra make;
                bra.uni votes;
            take:
                and.b32 %r9, %r7, 1;
                add.u32 %r13, %r9, 1;
                bar.sync %r13, 128;
                mad.lo.u32 %r12, %r9, 256, %r6;
                ld.shared.u32 %r11, [%r12+-256];
                add.u32 %r8, %r8, %r11;
                add.u32 %r14, %r7, 2;
                setp.lt.u32 %p4, %r14, ROUNDS;
                add.u32 %r10, %r9, 3;
                @%p4 bar.arrive %r10, 128;
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p3, %r7, ROUNDS;
                @%p3 bra take;
            votes:
                and.b32 %r15, %r1, 3;
                setp.eq.u32 %p5, %r15, 0;
                bar.red.popc.u32 %r16, 5, 128, %p5;
                bar.red.popc.u32 %r17, 5, 128, !%p5;
                bar.red.or.pred %p6, 6, 128, %p5;
                bar.red.and.pred %p7, 6, 128, %p5;
                mad.lo.u32 %r16, %r17, 1000, %r16;
                selp.u32 %r18, 1000000, 0, %p6;
                selp.u32 %r19, 2000000, 0, %p7;
                add.u32 %r16, %r16, %r18;
                add.u32 %r16, %r16, %r19;
                setp.lt.u32 %p5, %r1, 1000;
                bar.red.and.pred %p7, 7, 128, %p5;
                selp.u32 %r19, 4000000, 0, %p7;
                add.u32 %r16, %r16, %r19;
                add.u32 %r8, %r8, %r16;
                st.global.u32 [%d3], %r8;
                ret;
            }
            """.replace("ROUNDS", Integer.toString(ROUNDS));

    /** Barrier 0 with a count and without; the last warp of the block is not whole. */
    private static final String ZERO = HEAD + """
                mad.lo.u32 %r20, %r2, 1, 31;
                and.b32 %r20, %r20, -32;
            again:
                st.shared.u32 [%r6], %r4;
                bar.sync 0;
                sub.u32 %r9, %r2, %r1;
                sub.u32 %r9, %r9, 1;
                mad.lo.u32 %r10, %r9, 4, %r5;
                ld.shared.u32 %r11, [%r10];
                mad.lo.u32 %r8, %r8, 3, %r11;
                bar.sync 0, %r20;
                and.b32 %r15, %r1, 1;
                setp.eq.u32 %p5, %r15, 0;
                bar.red.popc.u32 %r16, 0, %p5;
                add.u32 %r8, %r8, %r16;
                setp.ne.u32 %p6, %r2, 0;
                bar.red.and.pred %p7, 0, %p6;
                @%p7 add.u32 %r8, %r8, 7;
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p3, %r7, ROUNDS;
                @%p3 bra again;
                st.global.u32 [%d3], %r8;
                ret;
            }
            """.replace("ROUNDS", Integer.toString(ROUNDS));

    /** One warp of two comes. */
    private static final String ALONE = HEAD + """
                setp.ge.u32 %p1, %r1, 32;
                @%p1 bra other;
                bar.sync 1, 64;
                st.global.u32 [%d3], %r4;
                ret;
            other:
                bar.sync 2, 64;
                st.global.u32 [%d3], %r4;
                ret;
            }
            """;

    private static SoftwareProcessor processor(boolean compiled) {
        Interpreter interpreter = new Interpreter();
        return new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
    }

    private static void launch(SoftwareProcessor processor, LoadedModule module, int threads, long out) {
        LoadedKernel kernel = module.kernel("k");
        byte[] arguments = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(out).array();
        processor.launch(kernel, new LaunchSpec(new Dim3(BLOCKS, 1, 1), new Dim3(threads, 1, 1), null, 0, arguments, false),
                text -> {}, new GridControl());
    }

    private static int[] run(SoftwareProcessor processor, LoadedModule module, int threads, long out) {
        int[] found = new int[BLOCKS * threads];
        for (int i = 0; i < found.length; i++) {
            RealMemory.putInt(out + 4L * i, -1);
        }
        launch(processor, module, threads, out);
        for (int i = 0; i < found.length; i++) {
            found[i] = RealMemory.getInt(out + 4L * i);
        }
        return found;
    }

    private static void same(String text, int threads, boolean compiled) throws Exception {
        for (FenceMode mode : List.of(FenceMode.MASK, FenceMode.MODULO, FenceMode.CHECK)) {
            try (SoftwareProcessor processor = processor(compiled)) {
                FenceWindow window = new FenceWindow(processor, mode);
                long out = window.allocate(4L * BLOCKS * threads);
                int[] plain = run(processor, processor.load(text), threads, out);
                int[] fenced = run(processor, window.load(text), threads, out);
                assertArrayEquals(plain, fenced, mode.toString());
                assertEquals(List.of(), window.violations(), mode.toString());
                if (threads == 128) {
                    // 32 of 128 threads say yes, 96 no; somebody does, not everybody; then everybody.
                    assertEquals(32 + 96_000 + 1_000_000 + 4_000_000, plain[0]);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pipelinesComputeTheSame(boolean compiled) throws Exception {
        same(PIPELINE, 128, compiled);
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 96, 104, 513})
    void barrierZeroWithACountMeetsTheOneWithout(int threads) throws Exception {
        same(ZERO, threads, threads != 96);
    }

    @Test
    void theStopWordEndsWhoWaitsForWhoNeverComes() throws Exception {
        try (SoftwareProcessor processor = processor(true)) {
            FenceWindow window = new FenceWindow(processor, FenceMode.MASK);
            long out = window.allocate(4L * BLOCKS * 64);
            LoadedModule module = window.load(ALONE);
            Thread launch = Thread.ofPlatform().daemon().start(() -> launch(processor, module, 64, out));
            assertTrue(!launch.join(Duration.ofMillis(300)), "it does not wait");
            RealMemory.putInt(window.stopWord, 0);
            launch.join(TimeUnit.SECONDS.toMillis(60));
            assertTrue(!launch.isAlive(), "it was not ended");
            assertEquals(0, RealMemory.getInt(out));
        }
    }
}
