package io.tessera.bench.software;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A software GPU of one core with the kernels of {@code kernels.ptx}, and their data. Not thread-safe. */
final class BenchmarkDevice implements AutoCloseable {
    private static final int BLOCK = 256;
    private static final int TILE = 16;
    /** Blocks of the kernels whose threads go through the data with a stride. */
    private static final int BLOCKS = 64;
    private static final long MEMORY_BYTES = 64L << 20;

    private final SoftwareProcessor processor;
    private final LoadedModule module;
    private final long a;
    private final long b;
    private final long c;

    BenchmarkDevice(boolean compiled) {
        Interpreter interpreter = new Interpreter();
        KernelTranslator translator = compiled ? new KernelCompiler(interpreter, System::nanoTime) : interpreter;
        processor = new SoftwareProcessor(new ProcessorOptions(MEMORY_BYTES, 0, DeviceLimits.of(1), translator,
                DeviceClock.system()));
        try (InputStream text = BenchmarkDevice.class.getResourceAsStream("kernels.ptx")) {
            module = processor.load(new String(text.readAllBytes(), StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (io.tessera.guardian.ptx.parse.PtxException e) {
            throw new IllegalStateException("the benchmark's own kernels", e);
        }
        a = processor.memory().allocate(4L * BenchmarkSizes.COUNT);
        b = processor.memory().allocate(4L * BenchmarkSizes.COUNT);
        c = processor.memory().allocate(4L * BenchmarkSizes.COUNT);
        for (int i = 0; i < BenchmarkSizes.COUNT; i++) {
            RealMemory.putInt(a + 4L * i, Float.floatToIntBits(first(i)));
            RealMemory.putInt(b + 4L * i, Float.floatToIntBits(second(i)));
        }
    }

    /** The data, also of the loops in plain Java. */
    static float first(int i) {
        return i % 1000 * 0.5f;
    }

    /** The other operand. */
    static float second(int i) {
        return i % 777;
    }

    /** Launches one of the kernels over all its data. */
    void launch(BenchmarkKernel workload) {
        LoadedKernel kernel = module.kernel(workload.kernel());
        switch (workload) {
            case VECTOR_ADD -> launch(kernel, new Dim3(BenchmarkSizes.COUNT / BLOCK, 1, 1), new Dim3(BLOCK, 1, 1), BenchmarkSizes.COUNT, a, b, c);
            case TILED_GEMM ->
                launch(kernel, new Dim3(BenchmarkSizes.ROWS / TILE, BenchmarkSizes.ROWS / TILE, 1), new Dim3(TILE, TILE, 1), BenchmarkSizes.ROWS, a,
                        b, c);
            case REDUCTION, HISTOGRAM -> launch(kernel, new Dim3(BLOCKS, 1, 1), new Dim3(BLOCK, 1, 1), BenchmarkSizes.COUNT, a, c);
        }
    }

    private void launch(LoadedKernel kernel, Dim3 grid, Dim3 block, int count, long... pointers) {
        ByteBuffer parameters = ByteBuffer.allocate(8 * pointers.length + 4).order(ByteOrder.LITTLE_ENDIAN);
        for (long pointer : pointers) {
            parameters.putLong(pointer);
        }
        parameters.putInt(count);
        processor.launch(kernel, LaunchSpec.of(grid, block, 0, parameters.array()), text -> {}, new GridControl());
    }

    @Override
    public void close() {
        module.close();
        processor.close();
    }
}
