package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Fenced kernels compute in blocks of every size, and with counts of every size, what they compute unfenced. */
@Timeout(180)
class FencedLaunchSizesTest {
    /**
     * Reverses the first 256 numbers of each block in shared memory, in rounds; threads beyond add their number to what stays. The
     * block's size itself is a result too.
     */
    private static final String REVERSE = """
            .version 8.0
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u64 out, .param .u32 rounds)
            {
                .reg .b32 %r<16>;
                .reg .b64 %d<4>;
                .reg .pred %p<4>;
                .shared .align 4 .b8 tile[1024];
                ld.param.u64 %d1, [out];
                ld.param.u32 %r9, [rounds];
                mov.u32 %r1, %tid.x;
                mov.u32 %r2, %ntid.x;
                mov.u32 %r3, %ctaid.x;
                mad.lo.u32 %r4, %r3, %r2, %r1;
                mul.wide.u32 %d2, %r4, 4;
                add.s64 %d3, %d1, %d2;
                ld.global.u32 %r5, [%d3];
                mov.u32 %r6, tile;
                shl.b32 %r7, %r1, 2;
                add.s32 %r8, %r6, %r7;
                mov.u32 %r13, 0;
            round:
                setp.ge.u32 %p1, %r1, 256;
                @%p1 bra outside;
                st.shared.u32 [%r8], %r5;
            outside:
                bar.sync 0;
                min.u32 %r10, %r2, 256;
                sub.u32 %r11, %r10, %r1;
                sub.u32 %r11, %r11, 1;
                @%p1 bra late;
                shl.b32 %r11, %r11, 2;
                add.s32 %r12, %r6, %r11;
                ld.shared.u32 %r5, [%r12];
                bra joined;
            late:
                add.u32 %r5, %r5, %r1;
            joined:
                bar.sync 0;
                add.u32 %r13, %r13, 1;
                setp.lt.u32 %p2, %r13, %r9;
                @%p2 bra round;
                add.u32 %r5, %r5, %r2;
                st.global.u32 [%d3], %r5;
                ret;
            }
            """;
    private static final int THREADS = 1024;
    private static final int ROUNDS = 3;

    /** The test of a kernel and the same kernel with fences. */
    private interface Comparison {
        void compare(SoftwareProcessor processor, FenceWindow window, LoadedModule plain, LoadedModule fenced) throws Exception;
    }

    /** Loads a module as it is and fenced; in the end nothing may have been kept from an access. */
    private static void withBoth(FenceMode mode, String text, Comparison comparison) throws Exception {
        try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                new Interpreter(), DeviceClock.system()))) {
            FenceWindow window = new FenceWindow(processor, mode);
            comparison.compare(processor, window, processor.load(text), window.load(text));
            assertEquals(List.of(), window.violations());
        }
    }

    /** Launches the kernel on numbers and returns some of what is there then. */
    private static int[] launched(SoftwareProcessor processor, LoadedModule module, Dim3 grid, Dim3 block, long out, long from, int count,
            int... parameters) {
        for (int i = 0; i < THREADS; i++) {
            RealMemory.putInt(out + (long) Integer.BYTES * i, i * 31);
        }
        ByteBuffer arguments = ByteBuffer.allocate(Long.BYTES + Integer.BYTES * parameters.length).order(ByteOrder.LITTLE_ENDIAN).putLong(out);
        for (int parameter : parameters) {
            arguments.putInt(parameter);
        }
        processor.launch(module.kernel("k"), new LaunchSpec(grid, block, null, 0, arguments.array(), false), text -> {}, new GridControl());
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = RealMemory.getInt(from + (long) Integer.BYTES * i);
        }
        return values;
    }

    private static int[] run(SoftwareProcessor processor, LoadedModule module, long out, int threads) {
        return launched(processor, module, new Dim3(THREADS / threads, 1, 1), new Dim3(threads, 1, 1), out, out, THREADS, ROUNDS);
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void blocksOfEverySizeComputeTheSame(FenceMode mode) throws Exception {
        withBoth(mode, REVERSE, (processor, window, plain, fenced) -> {
            long out = window.allocate((long) Integer.BYTES * THREADS);
            for (int threads : new int[] {1, 31, 32, 64, 255, 256, 257, 512, 1024}) {
                int[] expected = run(processor, plain, out, threads);
                assertArrayEquals(expected, run(processor, fenced, out, threads), "blocks of " + threads);
                assertTrue(expected[0] != 0, "it did something");
            }
        });
    }

    /** Adds up every so manieth number, in a grid's stride, from a row on; {@code n} is also a place in the result. */
    private static final String STRIDED = """
            .version 8.0
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u64 out, .param .u32 n, .param .u32 width)
            {
                .reg .b32 %r<16>;
                .reg .b64 %d<8>;
                .reg .pred %p<4>;
                ld.param.u64 %d1, [out];
                ld.param.u32 %r1, [n];
                ld.param.u32 %r2, [width];
                mov.u32 %r3, %ctaid.x;
                mov.u32 %r4, %ntid.x;
                mov.u32 %r5, %tid.x;
                mad.lo.s32 %r6, %r3, %r4, %r5;
                mul.wide.s32 %d6, %r6, 4;
                add.s64 %d5, %d1, %d6;
                mov.u32 %r7, %nctaid.x;
                mul.lo.s32 %r8, %r4, %r7;
                mul.wide.s32 %d2, %r2, 4;
                mov.u32 %r9, 0;
                mov.u32 %r12, 0;
                mov.u64 %d3, %d1;
            loop:
                rem.u32 %r10, %r6, 64;
                mul.wide.u32 %d7, %r10, 4;
                add.s64 %d4, %d3, %d7;
                ld.global.u32 %r11, [%d4];
                add.u32 %r9, %r9, %r11;
                add.s64 %d3, %d3, %d2;
                add.u32 %r12, %r12, 1;
                setp.ge.u32 %p1, %r12, 8;
                @%p1 bra done;
                add.s32 %r6, %r6, %r8;
                setp.lt.s32 %p2, %r6, %r1;
                @%p2 bra loop;
            done:
                add.u32 %r9, %r9, %r1;
                st.global.u32 [%d5+8192], %r9;
                ret;
            }
            """;

    private static int[] strided(SoftwareProcessor processor, LoadedModule module, long out, int n, int width) {
        return launched(processor, module, new Dim3(3, 1, 1), new Dim3(32, 1, 1), out, out + 8192, 96, n, width);
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void countsOfEverySizeComputeTheSame(FenceMode mode) throws Exception {
        withBoth(mode, STRIDED, (processor, window, plain, fenced) -> {
            long out = window.allocate((long) Integer.BYTES * THREADS * 4);
            for (int n : new int[] {0, 1, 97, 500, 1 << 13, (1 << 13) + 1, 1 << 16, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, Integer.MAX_VALUE, -1,
                    Integer.MIN_VALUE}) {
                for (int width : new int[] {0, 1, 64, -8}) {
                    int base = width < 0 ? 64 : 0;
                    int[] expected = strided(processor, plain, out + 4L * base, n, width);
                    assertArrayEquals(expected, strided(processor, fenced, out + 4L * base, n, width), n + ", rows of " + width);
                }
            }
        });
    }
}
