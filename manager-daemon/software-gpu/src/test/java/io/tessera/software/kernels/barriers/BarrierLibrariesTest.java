package io.tessera.software.kernels.barriers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.fence.FenceMode;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What libcu++ and CUB make of pipelines, barriers and transforms, as nvcc compiles it, fenced for a window. */
@Timeout(300)
class BarrierLibrariesTest {
    private static final Path FOLDER = Path.of("../../guardian-allocator/src/test/resources/ptx");
    private static final int BLOCKS = 3;
    private static final int THREADS = 256;

    private record Run(SoftwareProcessor processor, FenceWindow window, LoadedModule module) implements AutoCloseable {
        static Run of(String file, FenceMode mode) throws Exception {
            SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                    new KernelCompiler(new Interpreter(), () -> 0), DeviceClock.system()));
            FenceWindow window = new FenceWindow(processor, mode);
            return new Run(processor, window, window.load(Files.readString(FOLDER.resolve(file))));
        }

        long ints(int count, IntUnaryOperator value) {
            long address = window.allocate(4L * count);
            for (int i = 0; i < count; i++) {
                RealMemory.putInt(address + 4L * i, value.applyAsInt(i));
            }
            return address;
        }

        int[] ints(long address, int count) {
            int[] values = new int[count];
            for (int i = 0; i < count; i++) {
                values[i] = RealMemory.getInt(address + 4L * i);
            }
            return values;
        }

        void launch(String kernel, int sharedBytes, ByteBuffer arguments) {
            LaunchOutcome outcome = processor.launch(module.kernel(kernel), new LaunchSpec(new Dim3(BLOCKS, 1, 1), new Dim3(THREADS, 1, 1),
                    null, sharedBytes, arguments.array(), false), text -> {}, new GridControl());
            assertEquals(LaunchOutcome.COMPLETED, outcome, kernel);
            assertEquals(List.of(), window.violations(), kernel);
        }

        @Override
        public void close() {
            processor.close();
        }
    }

    private static ByteBuffer arguments(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @ParameterizedTest
    @CsvSource({"pipelines.80.ptx, MASK", "pipelines.90.ptx, MASK", "pipelines.90.ptx, MODULO", "pipelines.90.ptx, CHECK"})
    void pipelinesAndBarriersCompute(String file, FenceMode mode) throws Exception {
        int tiles = 4;
        int count = BLOCKS * tiles * 1024;
        try (Run run = Run.of(file, mode)) {
            long in = run.ints(count, i -> i * 7 + 1);
            long out = run.ints(count, i -> -1);
            run.launch("pipeline_tiles", 0, arguments(20).putLong(in).putLong(out).putInt(tiles));
            int[] found = run.ints(out, BLOCKS * tiles * 256);
            for (int i = 0; i < found.length; i++) {
                assertEquals((i * 7 + 1) * 3 + (i ^ 255) * 7 + 1, found[i]);
            }
            run.launch("barrier_sum", 0, arguments(20).putLong(in).putLong(out).putInt(count));
            int[] sums = new int[BLOCKS];
            for (int i = 0; i < count; i++) {
                sums[i / THREADS % BLOCKS] += i * 7 + 1;
            }
            assertArrayEquals(sums, run.ints(out, BLOCKS));
            run.launch("bulk_tiles", 0, arguments(20).putLong(in).putLong(out).putInt(count));
            found = run.ints(out, count);
            for (int i = 0; i < count; i++) {
                assertEquals((i ^ 1023) * 7 + 2, found[i]);
            }
        }
    }

    /** The blocks in the middle copy by bulk, the last one has fewer elements and does not. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void transformsCompute(FenceMode mode) throws Exception {
        int each = 2;
        int count = (BLOCKS - 1) * THREADS * each + 100;
        try (Run run = Run.of("transform.90.ptx", mode)) {
            long x = run.ints(count + 64, i -> Float.floatToRawIntBits(i * 0.5f));
            long y = run.ints(count + 64, i -> Float.floatToRawIntBits(i + 3f));
            long z = run.ints(count, i -> 0);
            String kernel = run.module.kernelNames().stream().filter(name -> name.contains("Axpy")).findFirst().orElseThrow();
            ByteBuffer arguments = arguments(56).putInt(count).putInt(each).putLong(0).putLong(z).putLong(x).putLong(0).putLong(y).putLong(0);
            run.launch(kernel, 2 * (4 * THREADS * each + 128), arguments);
            int[] found = run.ints(z, count);
            for (int i = 0; i < count; i++) {
                assertEquals(Math.fma(2.5f, i * 0.5f, i + 3f), Float.intBitsToFloat(found[i]));
            }
        }
    }
}
