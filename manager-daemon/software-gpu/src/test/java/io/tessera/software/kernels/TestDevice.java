package io.tessera.software.kernels;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.Parameter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A software GPU with one module of the test kernels, and shorthand for buffers and launches. */
public final class TestDevice implements AutoCloseable {
    /** Execution mode of kernels. */
    public enum Kind {
        INTERPRETED, COMPILED;

        /** The fence of modules: {@code -Dtessera.test.fence=MASK} runs the tests of legal kernels with that fence. */
        private static final String FENCE = System.getProperty("tessera.test.fence", "");
    }

    private static final long MEMORY_BYTES = 256L << 20;
    private static final int WORKERS = 3;

    public final SoftwareProcessor processor;
    public final LoadedModule module;
    private final FenceWindow window;
    public final StringBuilder printed = new StringBuilder();
    public final GridControl control = new GridControl();

    public TestDevice(Kind kind, String kernels) {
        this(kind, kernels, true);
    }

    /** @param text the PTX itself */
    public static TestDevice ofText(Kind kind, String text) {
        return new TestDevice(kind, text, false);
    }

    private TestDevice(Kind kind, String kernels, boolean resource) {
        Interpreter interpreter = new Interpreter();
        KernelTranslator translator = kind == Kind.INTERPRETED ? interpreter
                : new KernelCompiler(interpreter, () -> 0);
        processor = new SoftwareProcessor(
                new ProcessorOptions(Kind.FENCE.isEmpty() ? MEMORY_BYTES : FenceWindow.MEMORY_BYTES, WORKERS, DeviceLimits.of(WORKERS + 1),
                        translator, DeviceClock.system()));
        try {
            String ptx = resource ? text(kernels) : kernels;
            window = Kind.FENCE.isEmpty() ? null : new FenceWindow(processor, FenceMode.valueOf(Kind.FENCE));
            module = window == null ? processor.load(ptx) : window.load(ptx);
        } catch (PtxException | FenceRefusedException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static String text(String name) {
        try (InputStream in = TestDevice.class.getResourceAsStream("/kernels/" + name + ".ptx")) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        processor.close();
    }

    public long ints(int... values) {
        long address = allocate(4L * values.length);
        for (int i = 0; i < values.length; i++) {
            RealMemory.putInt(address + 4L * i, values[i]);
        }
        return address;
    }

    private long allocate(long bytes) {
        return window == null ? processor.memory().allocate(bytes) : window.allocate(bytes);
    }

    public long zeros(int count) {
        return ints(new int[count]);
    }

    public long floats(float... values) {
        int[] bits = new int[values.length];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = Float.floatToRawIntBits(values[i]);
        }
        return ints(bits);
    }

    public long doubles(double... values) {
        long address = allocate(8L * values.length);
        for (int i = 0; i < values.length; i++) {
            RealMemory.putLong(address + 8L * i, Double.doubleToRawLongBits(values[i]));
        }
        return address;
    }

    public int[] ints(long address, int count) {
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = RealMemory.getInt(address + 4L * i);
        }
        return values;
    }

    public float[] floats(long address, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = Float.intBitsToFloat(RealMemory.getInt(address + 4L * i));
        }
        return values;
    }

    public double[] doubles(long address, int count) {
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = Double.longBitsToDouble(RealMemory.getLong(address + 8L * i));
        }
        return values;
    }

    /** Launches with arguments of the kernel's parameter sizes: Long, Integer, Float, Double or byte[]. */
    public LaunchOutcome launch(String kernel, Dim3 grid, Dim3 block, int sharedBytes, Object... arguments) {
        return launch(kernel, new Dim3[] {grid, block}, sharedBytes, false, arguments);
    }

    public LaunchOutcome launch(String kernel, int grid, int block, Object... arguments) {
        return launch(kernel, new Dim3(grid, 1, 1), new Dim3(block, 1, 1), 0, arguments);
    }

    public LaunchOutcome launch(String kernel, Dim3[] extents, int sharedBytes, boolean cooperative, Object... arguments) {
        LoadedKernel loaded = module.kernel(kernel);
        return processor.launch(loaded, new LaunchSpec(extents[0], extents[1], null, sharedBytes + (window == null ? 0 : window.addedSharedBytes),
                pack(loaded, arguments), cooperative),
                text -> printed.append(new String(text, StandardCharsets.ISO_8859_1)), control);
    }

    private static byte[] pack(LoadedKernel kernel, Object... arguments) {
        List<Parameter> parameters = kernel.kernel().entry().parameters();
        ByteBuffer buffer = ByteBuffer.allocate(kernel.kernel().parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < arguments.length; i++) {
            buffer.position(parameters.get(i).offset());
            switch (arguments[i]) {
                case Long value -> buffer.putLong(value);
                case Integer value -> buffer.putInt(value);
                case Float value -> buffer.putFloat(value);
                case Double value -> buffer.putDouble(value);
                case Byte value -> buffer.put(value);
                case byte[] bytes -> buffer.put(bytes);
                default -> throw new IllegalArgumentException(arguments[i].toString());
            }
        }
        return buffer.array();
    }
}
