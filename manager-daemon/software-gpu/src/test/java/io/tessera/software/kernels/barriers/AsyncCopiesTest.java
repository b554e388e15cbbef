package io.tessera.software.kernels.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import org.junit.jupiter.params.provider.CsvSource;

/** A fenced {@code cp.async} copies from where the program said, for every size, at addresses that are multiples of that size alone. */
@Timeout(180)
class AsyncCopiesTest {
    private static final int THREADS = 32;
    private static final int PIECES = 3;
    /**
     * Each thread copies three pieces that lie apart by a multiple of 32 bytes, as rows of a matrix do. Nothing bounds where the first one
     * lies, so the fence is at its address, and the others are made from that: its alignment is theirs.
     */
    private static final String COPIES = """
            .version 8.0
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u64 in, .param .u64 out, .param .u64 start, .param .u32 distance)
            {
                .reg .b32 %r<16>;
                .reg .b64 %d<8>;
                .shared .align 16 .b8 tile[2048];
                ld.param.u64 %d1, [in];
                ld.param.u64 %d2, [out];
                ld.param.u32 %r1, [distance];
                mov.u32 %r2, %tid.x;
                ld.param.u64 %d7, [start];
                mul.lo.u32 %r3, %r2, SIZE;
                cvt.u64.u32 %d3, %r3;
                add.s64 %d3, %d7, %d3;
                add.s64 %d4, %d1, %d3;
                mul.lo.u32 %r4, %r2, 48;
                mov.u32 %r5, tile;
                add.s32 %r6, %r5, %r4;
                shl.b32 %r1, %r1, 5;
                cvt.s64.s32 %d5, %r1;
                cp.async.ca.shared.global [%r6], [%d4], SIZE;
                add.s64 %d6, %d4, %d5;
                cp.async.ca.shared.global [%r6+16], [%d6], SIZE;
                shl.b64 %d5, %d5, 1;
                add.s64 %d7, %d4, %d5;
                cp.async.ca.shared.global [%r6+32], [%d7], SIZE;
                cp.async.commit_group;
                cp.async.wait_group 0;
                mul.lo.u32 %r7, %r2, 12;
                cvt.u64.u32 %d3, %r7;
                add.s64 %d2, %d2, %d3;
                ld.shared.u32 %r8, [%r6];
                ld.shared.u32 %r9, [%r6+16];
                ld.shared.u32 %r10, [%r6+32];
                st.global.u32 [%d2], %r8;
                st.global.u32 [%d2+4], %r9;
                st.global.u32 [%d2+8], %r10;
                ret;
            }
            """;

    @ParameterizedTest
    @CsvSource({"MASK,4", "MASK,8", "MASK,16", "MODULO,4", "MODULO,8", "MODULO,16", "CHECK,4", "CHECK,8", "CHECK,16", "NONE,8"})
    void copiesFromWhereTheProgramSaid(FenceMode mode, int size) throws Exception {
        ProcessorOptions options = new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3), new Interpreter(),
                DeviceClock.system());
        try (SoftwareProcessor processor = new SoftwareProcessor(options)) {
            FenceWindow window = new FenceWindow(processor, mode);
            LoadedModule module = window.load(COPIES.replace("SIZE", Integer.toString(size)));
            int distance = THREADS * size + 32;
            long in = window.allocate((PIECES + 1) * (long) distance);
            long out = window.allocate(THREADS * 4L * PIECES);
            for (int at = 0; at < PIECES * distance; at += Integer.BYTES) {
                RealMemory.putInt(in + size + at, at + 1);
            }
            ByteBuffer parameters = ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN).putLong(in).putLong(out).putLong(size)
                    .putInt(distance / 32);
            processor.launch(module.kernel("k"), new LaunchSpec(new Dim3(1, 1, 1), new Dim3(THREADS, 1, 1), null, 0,
                    parameters.array(), false), text -> {}, new GridControl());
            assertEquals(List.of(), window.violations());
            for (int thread = 0; thread < THREADS; thread++) {
                for (int piece = 0; piece < PIECES; piece++) {
                    assertEquals(thread * size + piece * distance + 1, RealMemory.getInt(out + 12L * thread + 4L * piece),
                            "thread " + thread + ", piece " + piece);
                }
            }
        }
    }
}
