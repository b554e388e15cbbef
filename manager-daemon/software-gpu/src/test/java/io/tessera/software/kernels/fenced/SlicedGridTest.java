package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.slice.GridSlices;
import io.tessera.software.clock.DeviceClock;
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
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A grid that is launched in parts computes what it does in one launch: every block runs once, as the block that it is. {@code -Dtessera.test.seed=N} starts from another seed. */
@Timeout(300)
class SlicedGridTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int MOST = 7;
    private static final int OUT_BYTES = 16 * MOST * MOST * MOST;
    /**
     * The first thread of its block adds one to a count, and writes the block's number and the grid's size; every second thread by a
     * guarded read.
     */
    private static final String TEXT = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry k(.param .u64 out, .param .u8 odd)
            {
             .reg .b64 %rd<4>;
             .reg .b32 %r<12>;
             .reg .pred %p<3>;
             ld.param.u64 %rd0, [out];
             mov.u32 %r0, %tid.x;
             setp.eq.u32 %p0, %r0, 0;
             setp.eq.u32 %p1, %r0, 1;
             mov.u32 %r1, %ctaid.y;
             mov.u32 %r2, %ctaid.z;
             mov.u32 %r4, %nctaid.x;
             mov.u32 %r5, %nctaid.y;
             mov.u32 %r6, %nctaid.z;
             mov.u32 %r3, 0;
             @%p0 mov.u32 %r3, %ctaid.x;
             @%p1 mov.u32 %r3, %ctaid.x;
             setp.gt.u32 %p2, %r0, 1;
             @%p2 ret;
             mad.lo.u32 %r7, %r2, %r5, %r1;
             mad.lo.u32 %r7, %r7, %r4, %r3;
             mul.wide.u32 %rd1, %r7, 16;
             add.u64 %rd0, %rd0, %rd1;
             @%p0 atom.global.add.u32 %r8, [%rd0], 1;
             mad.lo.u32 %r9, %r4, 1000, %r5;
             mad.lo.u32 %r9, %r9, 1000, %r6;
             @%p1 st.global.u32 [%rd0+4], %r9;
             mad.lo.u32 %r10, %r3, 1000, %r1;
             mad.lo.u32 %r10, %r10, 1000, %r2;
             @%p1 st.global.u32 [%rd0+8], %r10;
             ret;
            }
            """;

    /** The kernel's own parameters end after 9 bytes: those that are added begin at 12. */
    private static byte[] parameters(long out, int... added) {
        ByteBuffer buffer = ByteBuffer.allocate(added.length == 0 ? 9 : 12 + GridSlices.PARAMETER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(0, out);
        for (int i = 0; i < added.length; i++) {
            buffer.putInt(12 + Integer.BYTES * i, added[i]);
        }
        return buffer.array();
    }

    private static void launch(SoftwareProcessor processor, LoadedKernel kernel, Dim3 blocks, byte[] parameters) {
        assertEquals(kernel.kernel().parameterBytes(), parameters.length);
        processor.launch(kernel, new LaunchSpec(blocks, new Dim3(3, 1, 1), null, 0, parameters, false), text -> {}, new GridControl());
    }

    private static int[] taken(long out) {
        int[] values = new int[OUT_BYTES / Integer.BYTES];
        for (int i = 0; i < values.length; i++) {
            values[i] = RealMemory.getInt(out + (long) Integer.BYTES * i);
            RealMemory.putInt(out + (long) Integer.BYTES * i, 0);
        }
        return values;
    }

    @Test
    void everyBlockRunsOnceAsItself() throws Exception {
        Random random = new Random(SEED);
        try (SoftwareProcessor processor = new SoftwareProcessor(
                new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3), new Interpreter(),
                        DeviceClock.system()))) {
            FenceWindow window = new FenceWindow(processor, FenceMode.MASK);
            long out = window.allocate(OUT_BYTES);
            taken(out);
            PtxModule module = PtxParser.parse(TEXT);
            LoadedKernel whole = window.load(new Fencer(FenceMode.MASK).fence(module)).kernel("k");
            FencedModule fenced = new Fencer(FenceMode.MASK).fence(GridSlices.of(module, "k"));
            LoadedKernel part = window.load(fenced).kernel("k");
            for (int round = 0; round < 40; round++) {
                int[] grid = {1 + random.nextInt(MOST), 1 + random.nextInt(MOST), 1 + random.nextInt(MOST)};
                launch(processor, whole, new Dim3(grid[0], grid[1], grid[2]), parameters(out));
                int[] expected = taken(out);
                int[] cut = {random.nextInt(grid[0]), random.nextInt(grid[1]), random.nextInt(grid[2])};
                for (int eighth = 0; eighth < 8; eighth++) {
                    int[] first = new int[3];
                    int[] size = new int[3];
                    for (int i = 0; i < 3; i++) {
                        boolean upper = (eighth >> i & 1) != 0;
                        first[i] = upper ? cut[i] : 0;
                        size[i] = upper ? grid[i] - cut[i] : cut[i];
                    }
                    if (size[0] > 0 && size[1] > 0 && size[2] > 0) {
                        launch(processor, part, new Dim3(size[0], size[1], size[2]),
                                parameters(out, first[0], first[1], first[2], grid[0], grid[1], grid[2]));
                    }
                }
                assertArrayEquals(expected, taken(out), "seed " + SEED + ", round " + round);
            }
            assertEquals(List.of(), window.violations());
        }
    }
}
