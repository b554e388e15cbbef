package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.module.FenceVerifier;
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
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Loops that take fuel once for several passes, which fences write one behind the other: threads with different numbers of passes compute what they do
 * without fences, and end once the stop word says so.
 */
@Timeout(300)
class RepeatedPassesTest {
    /** Passes of each thread; a thread without any goes around the loop where the shape has such a way. */
    private static final int[] PASSES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000, 1001, 1002, 1003, 4099, 20_000};
    private static final int OUT_INTS = 4;
    private static final int ENDLESS = -1;
    private static final long STOP_NS = 50_000_000;
    private static final String HEAD = """
            .version 8.5
            .target sm_80
            .address_size 64
            .visible .entry k(.param .u64 in, .param .u64 out) {
                .reg .b32 %r<16>; .reg .b64 %d<10>; .reg .pred %p<6>; .reg .f32 %f<8>;
                ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
                mov.u32 %r1, %tid.x;
                mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d1, %d3; ld.global.u32 %r2, [%d4];
                mul.wide.u32 %d5, %r1, 16; add.u64 %d6, %d2, %d5;
                mov.u32 %r3, 0; mov.u32 %r4, 1; mov.u32 %r5, 0; mov.f32 %f1, 0f3DCCCCCD; mov.f32 %f2, 0f3F800001; mov.f32 %f3, %f1;
                mov.u32 %r6, %ntid.x; shr.u32 %r6, %r6, 4;
            """;
    private static final String TAIL = """
                st.global.u32 [%d6], %r3; st.global.u32 [%d6+4], %r4; st.global.u32 [%d6+8], %r5; st.global.f32 [%d6+12], %f3;
                ret;
            }
            """;

    /** A loop that counts in {@code %r3} up to {@code %r2}, by a step that is not known to be 1; one counts to the end of its range. */
    private enum Shape {
        STRIDE(4, true, """
                    setp.eq.u32 %p1, %r2, 0; @%p1 bra over;
                again:
                    mad.lo.u32 %r4, %r4, 31, %r3;
                    add.u32 %r3, %r3, %r6;
                    st.global.u32 [%d6], %r3;
                    setp.lt.u32 %p1, %r3, %r2;
                    @%p1 bra again;
                over:
                """), NEGATED(4, false, """
                    setp.eq.u32 %p1, %r2, 0; @%p1 bra.uni over;
                other:
                again:
                    .loc 1 1 1
                    xor.b32 %r4, %r4, %r3;
                    add.u32 %r3, %r3, %r6;
                    .loc 1 2 1
                    setp.ge.u32 %p1, %r3, %r2;
                    @!%p1 bra.uni again;
                over:
                """), TWO_ENDS(4, false, """
                again:
                    ld.global.u32 %r7, [%d6+4];
                    add.u32 %r3, %r3, %r6;
                    mad.lo.u32 %r4, %r4, 5, %r3;
                    setp.lt.u32 %p1, %r3, %r2;
                    setp.ne.u32 %p2, %r4, %r7;
                    and.pred %p3, %p1, %p2;
                    @%p3 bra again;
                """), GUARDED(4, true, """
                    setp.gt.u32 %p2, %r1, 7;
                again:
                    @%p2 add.u32 %r5, %r5, %r3;
                    @!%p2 xor.b32 %r5, %r5, %r4;
                    setp.gt.u32 %p2, %r5, 100;
                    add.u32 %r3, %r3, %r6;
                    atom.global.add.u32 %r4, [%d6+8], %r3;
                    setp.lt.u32 %p1, %r3, %r2;
                    @%p1 bra again;
                """), SUMS(4, true, """
                again:
                    add.f32 %f4, %f3, %f1;
                    sub.f32 %f5, %f4, %f2;
                    mul.f32 %f3, %f5, %f2;
                    add.u32 %r3, %r3, %r6;
                    setp.lt.u32 %p1, %r3, %r2;
                    @%p1 bra again;
                """), LONG(2, true, """
                again:
                """ + "    mad.lo.u32 %r4, %r4, 17, %r5; xor.b32 %r5, %r4, %r3;\n".repeat(9) + """
                    add.u32 %r3, %r3, %r6;
                    setp.lt.u32 %p1, %r3, %r2;
                    @%p1 bra again;
                """), INNER(4, true, """
                    mov.u32 %r8, 3;
                outer:
                    mov.u32 %r3, 0;
                    and.b32 %r9, %r8, 1; setp.eq.u32 %p2, %r9, 0; @%p2 bra again;
                    add.u32 %r5, %r5, 7;
                again:
                    mad.lo.u32 %r4, %r4, 31, %r8;
                    add.u32 %r3, %r3, %r6;
                    setp.lt.u32 %p1, %r3, %r2;
                    @%p1 bra again;
                    add.u32 %r5, %r5, %r4;
                    sub.u32 %r8, %r8, %r6;
                    setp.ne.u32 %p3, %r8, 0;
                    @%p3 bra outer;
                """), WIDE(4, true, """
                    cvt.u64.u32 %d7, %r3; cvt.u64.u32 %d8, %r2; cvt.u64.u32 %d9, %r6;
                again:
                    add.s64 %d7, %d7, %d9;
                    cvt.u32.u64 %r3, %d7;
                    mad.lo.u32 %r4, %r4, 7, %r3;
                    setp.lt.s64 %p1, %d7, %d8;
                    @%p1 bra again;
                """), BORDER(4, true, """
                    setp.eq.u32 %p1, %r2, 0; @%p1 bra over;
                    mov.u32 %r8, 0xffffffff;
                    sub.u32 %r7, %r8, %r2;
                again:
                    add.u32 %r3, %r3, 1;
                    mad.lo.u32 %r4, %r4, 31, %r7;
                    add.u32 %r7, %r7, %r6;
                    setp.lt.u32 %p1, %r7, %r8;
                    @%p1 bra again;
                over:
                """);

        private final int copies;
        /** Whether one test before the passes, and none between them, asks whether that many are left. */
        private final boolean steady;
        private final String loop;

        Shape(int copies, boolean steady, String loop) {
            this.copies = copies;
            this.steady = steady;
            this.loop = loop;
        }

        private String text() {
            return HEAD + loop + TAIL;
        }
    }

    private static SoftwareProcessor processor() {
        Interpreter interpreter = new Interpreter();
        return new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3), new KernelCompiler(interpreter, () -> 0),
                DeviceClock.system()));
    }

    private static void launch(SoftwareProcessor processor, LoadedKernel kernel, long in, long out) {
        ByteBuffer packed = ByteBuffer.allocate(kernel.kernel().parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
        packed.putLong(in).putLong(out);
        processor.launch(kernel, new LaunchSpec(new Dim3(1, 1, 1), new Dim3(PASSES.length, 1, 1), null, 0, packed.array(), false), text -> {},
                new GridControl());
    }

    /** Returns what a kernel writes, whose threads begin with nothing written. */
    private static int[] results(SoftwareProcessor processor, LoadedKernel kernel, long in, long out) {
        int[] results = new int[PASSES.length * OUT_INTS];
        for (int i = 0; i < results.length; i++) {
            RealMemory.putInt(out + 4L * i, 0);
        }
        launch(processor, kernel, in, out);
        for (int i = 0; i < results.length; i++) {
            results[i] = RealMemory.getInt(out + 4L * i);
        }
        return results;
    }

    private static FencedModule fenced(Shape shape, FenceMode mode) throws Exception {
        FencedModule fenced = new Fencer(mode).fence(PtxParser.parse(shape.text()));
        assertEquals(shape.steady ? 1 : shape.copies - 1, fenced.ptx().split("bra \t__tessera_behind_").length - 1,
                "ends between two passes, of " + shape);
        assertEquals(shape.steady, fenced.ptx().contains("__tessera_single_"), "single passes, of " + shape);
        if (mode != FenceMode.NONE) {
            byte[] text = fenced.ptx().getBytes(StandardCharsets.ISO_8859_1);
            assertTrue(FenceVerifier.verify(text, Mode.valueOf(mode.name()), false).whole(), fenced::ptx);
        }
        return fenced;
    }

    @ParameterizedTest
    @EnumSource
    void computesTheSame(Shape shape) throws Exception {
        for (FenceMode mode : FenceMode.values()) {
            try (SoftwareProcessor processor = processor()) {
                FenceWindow window = new FenceWindow(processor, mode);
                long in = window.allocate(PASSES.length * 4L);
                long out = window.allocate(PASSES.length * OUT_INTS * 4L);
                for (int thread = 0; thread < PASSES.length; thread++) {
                    RealMemory.putInt(in + 4L * thread, PASSES[thread]);
                }
                int[] unfenced = results(processor, processor.load(shape.text()).kernel("k"), in, out);
                assertArrayEquals(unfenced, results(processor, window.load(fenced(shape, mode)).kernel("k"), in, out), shape + ", " + mode);
                assertEquals(PASSES[PASSES.length - 1], unfenced[unfenced.length - OUT_INTS], "the loop's passes");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"STRIDE, MASK", "NEGATED, MODULO", "GUARDED, CHECK", "SUMS, MASK", "LONG, MASK", "INNER, MASK", "WIDE, MASK", "STRIDE, NONE"})
    void endsOnceTheStopWordSaysSo(Shape shape, FenceMode mode) throws Exception {
        try (SoftwareProcessor processor = processor()) {
            FenceWindow window = new FenceWindow(processor, mode);
            long in = window.allocate(PASSES.length * 4L);
            long out = window.allocate(PASSES.length * OUT_INTS * 4L);
            for (int thread = 0; thread < PASSES.length; thread++) {
                RealMemory.putInt(in + 4L * thread, ENDLESS);
                RealMemory.putInt(out + 4L * OUT_INTS * thread + 12, ENDLESS);
            }
            LoadedKernel kernel = window.load(fenced(shape, mode)).kernel("k");
            Thread stop = Thread.ofPlatform().start(() -> {
                LockSupport.parkNanos(STOP_NS);
                RealMemory.putInt(window.stopWord, 0);
            });
            launch(processor, kernel, in, out);
            stop.join();
            for (int thread = 0; thread < PASSES.length; thread++) {
                assertEquals(ENDLESS, RealMemory.getInt(out + 4L * OUT_INTS * thread + 12), "a thread came to the end of a loop of 2^32 passes");
            }
        }
    }
}
