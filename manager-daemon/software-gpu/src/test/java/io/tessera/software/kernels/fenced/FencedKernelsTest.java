package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.kernels.RandomKernel;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Generated kernels: a legal one computes the same bits fenced and unfenced; a wild one touches nothing outside its window, and
 * faults nothing. {@code -Dtessera.test.seed=N} starts from another seed, {@code -Dtessera.test.kernels=N} makes more.
 */
@Timeout(300)
class FencedKernelsTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int KERNELS = Integer.getInteger("tessera.test.kernels", 12);
    private static final int OUT_BYTES = RandomKernel.OUT_BYTES * RandomKernel.THREADS * RandomKernel.BLOCKS;
    private static final int SECRET = 0x5EC12E75;
    private static final int VICTIM_BYTES = 1 << 20;

    private static SoftwareProcessor processor(boolean compiled) {
        Interpreter interpreter = new Interpreter();
        return new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
    }

    private static byte[] packed(LoadedKernel kernel, Object... arguments) {
        List<Parameter> parameters = kernel.kernel().entry().parameters();
        ByteBuffer buffer = ByteBuffer.allocate(kernel.kernel().parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Long value) {
                buffer.putLong(parameters.get(i).offset(), value);
            } else {
                buffer.putInt(parameters.get(i).offset(), (Integer) arguments[i]);
            }
        }
        return buffer.array();
    }

    private static void launch(SoftwareProcessor processor, LoadedKernel kernel, Object... arguments) {
        processor.launch(kernel, new LaunchSpec(new Dim3(RandomKernel.BLOCKS, 1, 1), new Dim3(RandomKernel.THREADS, 1, 1),
                null, 0, packed(kernel, arguments), false), text -> {}, new GridControl());
    }

    private static void fill(long address, int bytes, long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < bytes; i += Integer.BYTES) {
            RealMemory.putInt(address + i, random.nextInt());
        }
    }

    private static int[] read(long address, int bytes) {
        int[] values = new int[bytes / Integer.BYTES];
        for (int i = 0; i < values.length; i++) {
            values[i] = RealMemory.getInt(address + (long) Integer.BYTES * i);
        }
        return values;
    }

    @ParameterizedTest
    @EnumSource
    void legalKernelsComputeTheSame(FenceMode mode) throws Exception {
        try (SoftwareProcessor processor = processor(false)) {
            FenceWindow window = new FenceWindow(processor, mode);
            long in = window.allocate(RandomKernel.IN_BYTES);
            long out = window.allocate(OUT_BYTES);
            fill(in, RandomKernel.IN_BYTES, SEED);
            for (int n = 0; n < KERNELS; n++) {
                long seed = SEED + n;
                String text = RandomKernel.text(seed, false);
                FencedModule fenced = new Fencer(mode).fence(PtxParser.parse(text));
                int[] expected = results(processor, processor.load(text).kernel("k"), in, out, seed);
                // A run of its own for each: a program that counts in its variables would count on.
                assertArrayEquals(expected, results(processor, window.load(fenced).kernel("k"), in, out, seed), "seed " + seed);
                assertEquals(List.of(), window.violations(), "seed " + seed);
            }
        }
    }

    private static int[] results(SoftwareProcessor processor, LoadedKernel kernel, long in, long out, long seed) {
        fill(out, OUT_BYTES, seed);
        launch(processor, kernel, in, out, (int) seed, 0L);
        return read(out, OUT_BYTES);
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void wildKernelsStayInside(FenceMode mode) throws Exception {
        try (SoftwareProcessor processor = processor(mode == FenceMode.MASK)) {
            FenceWindow window = new FenceWindow(processor, mode);
            long in = window.allocate(RandomKernel.IN_BYTES);
            long out = window.allocate(OUT_BYTES);
            long victim = processor.memory().allocate(VICTIM_BYTES);
            for (int i = 0; i < VICTIM_BYTES; i += Integer.BYTES) {
                RealMemory.putInt(victim + i, SECRET);
            }
            for (int n = 0; n < KERNELS; n++) {
                long seed = SEED + n;
                fill(in, RandomKernel.IN_BYTES, seed);
                fill(out, OUT_BYTES, seed);
                FencedModule fenced = new Fencer(mode).fence(PtxParser.parse(RandomKernel.text(seed, true)));
                LoadedModule module = window.load(fenced);
                long constants = module.globals().get(WindowConstants.NAME).address();
                int[] before = read(constants, WindowConstants.BYTES);
                long[] targets = {victim, victim + VICTIM_BYTES / 2, constants, window.report, window.stopWord};
                launch(processor, module.kernel("k"), in, out, (int) seed, targets[n % targets.length]);
                String what = "seed " + seed + " " + mode;
                // From the window's borders wild offsets lead as far outside as they can.
                long[] borders = {window.base, window.base + FenceWindow.WINDOW_BYTES - 512, in};
                launch(processor, module.kernel("k"), in, out, (int) seed, borders[n % borders.length]);
                for (int value : read(victim, VICTIM_BYTES)) {
                    assertEquals(SECRET, value, what);
                }
                for (int value : read(out, OUT_BYTES)) {
                    assertFalse(value == SECRET, what);
                }
                assertArrayEquals(before, read(constants, WindowConstants.BYTES), what);
                assertEquals(WindowConstants.GO_ON, RealMemory.getInt(window.stopWord), what);
            }
        }
    }

    /** The control: without fences most of the wild kernels fault, so the test above tests something. */
    @Test
    void wildKernelsFaultWithoutFences() throws Exception {
        int faults = 0;
        try (SoftwareProcessor processor = processor(false)) {
            FenceWindow window = new FenceWindow(processor, FenceMode.NONE);
            long in = window.allocate(RandomKernel.IN_BYTES);
            long out = window.allocate(OUT_BYTES);
            for (int n = 0; n < KERNELS; n++) {
                LoadedModule module = window.load(RandomKernel.text(SEED + n, true));
                try {
                    launch(processor, module.kernel("k"), in, out, (int) SEED + n, 64L);
                } catch (KernelFault e) {
                    faults++;
                }
            }
        }
        assertTrue(faults > KERNELS / 2, faults + " of " + KERNELS);
    }
}
