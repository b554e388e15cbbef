package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
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
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Counted loops with an access, which fences make in parts of at most 512 rounds: each thread counts from its own start to its own limit, over the borders
 * of several parts, and computes what it would without them; and it ends at the first border once the stop word says so.
 * {@code -Dtessera.test.seed=N} starts from another seed.
 */
@Timeout(300)
class LoopPartsTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int THREADS = 8;
    private static final int PART = 512;
    private static final int MOST_ROUNDS = 2 * PART;
    private static final int OUT_INTS = 3;
    private static final long STOP_NS = 50_000_000;
    private static final String KERNEL = """
            .version 8.5
            .target sm_80
            .address_size 64
            .visible .entry k(.param .u64 in, .param .u64 out) {
                .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<4>;
                ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
                mov.u32 %r1, %tid.x;
                mul.wide.u32 %d3, %r1, 8; add.u64 %d4, %d1, %d3;
                ld.global.v2.u32 {%r2, %r3}, [%d4];
                mul.wide.u32 %d5, %r1, 12; add.u64 %d6, %d2, %d5;
                mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;
                setp.ne.u32 %p1, %r1, %r1;
                and.b32 %r7, %r1, 1; setp.eq.u32 %p2, %r7, 1;
                @%p2 bra again;
                add.u32 %r6, %r6, 5;
            again:
                @%p1 add.u32 %r6, %r6, 1;
                add.TYPE %r2, %r2, STEP;
                add.u32 %r4, %r4, 1;
                mad.lo.u32 %r5, %r5, 31, %r2;
                st.global.u32 [%d6], %r4;
                setp.RELATION.TYPE %p1, %r2, LIMIT;
                @%p1 bra again;
                st.global.u32 [%d6+4], %r5; st.global.u32 [%d6+8], %r6;
                ret;
            }
            """;

    private static SoftwareProcessor processor() {
        Interpreter interpreter = new Interpreter();
        return new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                new KernelCompiler(interpreter, () -> 0), DeviceClock.system()));
    }

    private static void launch(SoftwareProcessor processor, LoadedKernel kernel, long in, long out) {
        ByteBuffer packed = ByteBuffer.allocate(kernel.kernel().parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
        packed.putLong(in).putLong(out);
        processor.launch(kernel, new LaunchSpec(new Dim3(1, 1, 1), new Dim3(THREADS, 1, 1), null, 0, packed.array(), false), text -> {},
                new GridControl());
    }

    private static boolean goesOn(String relation, boolean signed, int counter, int limit) {
        int order = signed ? Integer.compare(counter, limit) : Integer.compareUnsigned(counter, limit);
        return switch (relation) {
            case "lt" -> order < 0;
            case "gt" -> order > 0;
            default -> order != 0;
        };
    }

    /** Rounds, a sum over all of them, and what the predicate was at the head; null: more rounds than this test has time for. */
    private static int[] expected(int thread, int start, int limit, int step, String relation, boolean signed) {
        int[] out = {0, 0, thread % 2 == 1 ? 0 : 5};
        int counter = start;
        boolean more = false;
        do {
            out[2] += more ? 1 : 0;
            counter += step;
            out[0]++;
            out[1] = out[1] * 31 + counter;
            more = goesOn(relation, signed, counter, limit);
        } while (more && out[0] <= MOST_ROUNDS);
        return more ? null : out;
    }

    private static void check(FenceMode mode, String relation, String type, int step, Integer fixed, boolean verified) throws Exception {
        boolean signed = type.equals("s32");
        String text = KERNEL.replace("TYPE", type).replace("STEP", Integer.toString(step)).replace("RELATION", relation)
                .replace("LIMIT", fixed == null ? "%r3" : fixed.toString());
        byte[] fenced = new Fencer(mode).fence(PtxParser.parse(text)).ptx().getBytes(StandardCharsets.ISO_8859_1);
        assertTrue(new String(fenced, StandardCharsets.ISO_8859_1).contains("_part_"), "the loop is not made in parts");
        if (verified) {
            assertTrue(FenceVerifier.verify(fenced, Mode.valueOf(mode.name()), false).accepted().contains("k"));
        }
        Random random = new Random(SEED);
        try (SoftwareProcessor processor = processor()) {
            FenceWindow window = new FenceWindow(processor, mode);
            long in = window.allocate(THREADS * 8);
            long out = window.allocate(THREADS * OUT_INTS * 4);
            LoadedKernel kernel = window.load(text).kernel("k");
            int[] wanted = new int[THREADS * OUT_INTS];
            for (int thread = 0; thread < THREADS; thread++) {
                int[] found = null;
                while (found == null) {
                    int rounds = random.nextInt(3) * PART + random.nextInt(5) - 2;
                    int limit = fixed != null ? fixed : random.nextBoolean() ? random.nextInt() : random.nextInt(200_000) - 100_000;
                    int start = limit - rounds * step + (relation.equals("ne") ? 0 : random.nextInt(3) - 1);
                    RealMemory.putInt(in + thread * 8L, start);
                    RealMemory.putInt(in + thread * 8L + 4, limit);
                    boolean near = !relation.equals("ne")
                            && Math.abs(signed ? (long) limit : (limit & 0xFFFF_FFFFL) - (1L << 31)) > (1L << 31) - 65536;
                    found = near ? null : expected(thread, start, limit, step, relation, signed);
                }
                System.arraycopy(found, 0, wanted, thread * OUT_INTS, OUT_INTS);
            }
            launch(processor, kernel, in, out);
            LongFunction<int[]> read = at -> {
                int[] values = new int[THREADS * OUT_INTS];
                for (int n = 0; n < values.length; n++) {
                    values[n] = RealMemory.getInt(at + 4L * n);
                }
                return values;
            };
            assertArrayEquals(wanted, read.apply(out), "seed " + SEED);
            if (relation.equals("ne")) {
                stops(processor, window, kernel, in, out, step, fixed);
            }
        }
    }

    /** Threads with billions of rounds to go end between two parts once the stop word says so. */
    private static void stops(SoftwareProcessor processor, FenceWindow window, LoadedKernel kernel, long in, long out, int step, Integer fixed)
            throws InterruptedException {
        for (int thread = 0; thread < THREADS; thread++) {
            int far = (step > 0 ? 1_900_000_000 : -1_900_000_000) & -64;
            RealMemory.putInt(in + thread * 8L, fixed == null ? far : fixed + 64 * step);
            RealMemory.putInt(in + thread * 8L + 4, fixed == null ? far - 64 * step : fixed);
        }
        ended(processor, window, kernel, in, out);
    }

    private static void ended(SoftwareProcessor processor, FenceWindow window, LoadedKernel kernel, long in, long out) throws InterruptedException {
        ended(processor, window, kernel, in, out, 0);
    }

    /** @param first rounds of the first part, if it is shorter than the others */
    private static void ended(SoftwareProcessor processor, FenceWindow window, LoadedKernel kernel, long in, long out, int first)
            throws InterruptedException {
        Thread stop = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(STOP_NS);
            RealMemory.putInt(window.stopWord, 0);
        });
        launch(processor, kernel, in, out);
        stop.join();
        for (int thread = 0; thread < THREADS; thread++) {
            int rounds = RealMemory.getInt(out + 4L * OUT_INTS * thread);
            assertTrue(rounds > 0 && rounds % PART == first, rounds + " rounds of a thread that was to end");
        }
    }

    @ParameterizedTest
    @CsvSource({"lt, u32, 1", "lt, u32, 7", "lt, s32, 1", "lt, s32, 3", "lt, s32, 65536", "gt, s32, -1", "gt, s32, -5", "gt, u32, -1", "gt, u32, -8",
            "ne, s32, 1", "ne, u32, 4", "ne, s32, -1", "ne, u32, -16", "ne, u32, 1"})
    void computesTheSame(String relation, String type, int step) throws Exception {
        check(FenceMode.MASK, relation, type, step, null, true);
    }

    @ParameterizedTest
    @CsvSource({"lt, u32, 1, 2000000000", "lt, s32, 3, -77", "gt, s32, -5, 1234567", "ne, s32, 1, 0", "ne, u32, -4, 0", "ne, u32, 8, 160"})
    void computesTheSameToANumber(String relation, String type, int step, int limit) throws Exception {
        check(FenceMode.CHECK, relation, type, step, limit, true);
    }

    /** A counter that is at its end already goes all the way round: nobody may be left alone with it. */
    @ParameterizedTest
    @CsvSource({"ne, u32, 1", "ne, u32, 4", "ne, s32, -1"})
    void aCounterThatBeginsAtItsEndIsWatched(String relation, String type, int step) throws Exception {
        String text = KERNEL.replace("TYPE", type).replace("STEP", Integer.toString(step)).replace("RELATION", relation).replace("LIMIT", "%r3");
        try (SoftwareProcessor processor = processor()) {
            FenceWindow window = new FenceWindow(processor, FenceMode.MASK);
            long in = window.allocate(THREADS * 8);
            long out = window.allocate(THREADS * OUT_INTS * 4);
            for (int thread = 0; thread < THREADS; thread++) {
                // Beyond the start by less than a step: equal but for the bits that no step changes.
                RealMemory.putInt(in + thread * 8L, 64 + thread % Math.abs(step));
                RealMemory.putInt(in + thread * 8L + 4, 64);
            }
            ended(processor, window, window.load(text).kernel("k"), in, out);
        }
    }

    /** A counter that is past its end already, and whose first step goes over the border of its type, has billions of rounds to go. */
    @ParameterizedTest
    @CsvSource({"gt, u32, -15, 2, 1", "lt, u32, 7, -2, -16", "lt, s32, 3, 2147483646, 2147483637", "gt, s32, -5, -2147483646, -2147483638"})
    void aCounterThatIsPastItsEndIsWatched(String relation, String type, int step, int start, int limit) throws Exception {
        String text = KERNEL.replace("TYPE", type).replace("STEP", Integer.toString(step)).replace("RELATION", relation).replace("LIMIT", "%r3");
        try (SoftwareProcessor processor = processor()) {
            FenceWindow window = new FenceWindow(processor, FenceMode.MASK);
            long in = window.allocate(THREADS * 8);
            long out = window.allocate(THREADS * OUT_INTS * 4);
            for (int thread = 0; thread < THREADS; thread++) {
                RealMemory.putInt(in + thread * 8L, start);
                RealMemory.putInt(in + thread * 8L + 4, limit);
            }
            ended(processor, window, window.load(text).kernel("k"), in, out, 1);
        }
    }
}
