package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A software GPU with a window and a kernel's inputs and outputs in it. One owner thread, which runs the kernels too. */
final class FuzzDevice implements AutoCloseable {
    private static final int MOST_OUT_BYTES = 1 << 18;
    private static final long LOOK_MS = 4;
    /** Initial content of outputs. */
    private static final int BEFORE = 0x5A;
    /** Number of hostile kernels after which the pages are returned: they write all over the window. */
    private static final int RENEW_EVERY = 1000;
    /** Border values of input words, besides random numbers. */
    private static final int[] BORDERS = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 255, 256, 0xFFFF, 0x10000, -16};

    /**
     * End of a launch.
     *
     * @param fault   the fault that ended it; empty: it ended by itself, or was told to
     * @param stopped whether it was told to end
     * @param endless whether it did not end and was cancelled
     */
    record Run(String fault, boolean stopped, boolean endless) {
    }

    final SoftwareProcessor processor;
    final FuzzWindow window;
    final long in;
    final long out;
    private final Thread watch;
    private int hostile;
    private volatile boolean closing;
    private volatile GridControl running;
    private volatile long stopAtNs;
    private volatile long cancelAtNs;
    private volatile boolean stopped;

    /**
     * Creates a device.
     *
     * @param compiled whether kernels are compiled to bytecode, or interpreted, which takes less time for kernels that run once
     */
    FuzzDevice(boolean compiled) {
        Interpreter interpreter = new Interpreter();
        processor = new SoftwareProcessor(new ProcessorOptions(FuzzWindow.MEMORY_BYTES, 0, DeviceLimits.of(1),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
        window = new FuzzWindow(processor);
        in = window.allocate(GeneratedKernel.IN_BYTES);
        out = window.allocate(MOST_OUT_BYTES);
        window.keep();
        watch = Thread.ofPlatform().daemon().name("fuzz-watch").start(this::watch);
    }

    private void watch() {
        while (!closing) {
            GridControl control = running;
            long nowNs = System.nanoTime();
            if (control != null && !stopped && nowNs - stopAtNs > 0) {
                stopped = true;
                window.stop();
            }
            if (control != null && stopped && nowNs - cancelAtNs > 0) {
                control.cancel();
            }
            try {
                Thread.sleep(LOOK_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Writes a kernel's inputs and the initial content of its outputs. */
    void fill(GeneratedKernel kernel) {
        RealMemory.put(in, inputs(kernel.seed()));
        RealMemory.fill(out, kernel.outBytes(), (byte) BEFORE);
    }

    /** Returns the inputs of a seed's kernel. */
    static byte[] inputs(long seed) {
        Random random = new Random(seed);
        ByteBuffer bytes = ByteBuffer.allocate(GeneratedKernel.IN_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            bytes.putInt(random.nextInt(3) == 0 ? BORDERS[random.nextInt(BORDERS.length)] : random.nextInt(4) == 0 ? random.nextInt(64)
                    : random.nextInt());
        }
        return bytes.array();
    }

    /** Returns the memory after a legal kernel: its outputs, and its inputs, which must be unchanged. */
    byte[] results(GeneratedKernel kernel) {
        byte[] all = new byte[kernel.outBytes() + GeneratedKernel.IN_BYTES];
        System.arraycopy(RealMemory.get(out, kernel.outBytes()), 0, all, 0, kernel.outBytes());
        System.arraycopy(RealMemory.get(in, GeneratedKernel.IN_BYTES), 0, all, kernel.outBytes(), GeneratedKernel.IN_BYTES);
        return all;
    }

    /** Packs the parameters in the kernel's order. */
    static byte[] packed(LoadedKernel kernel, Object... arguments) {
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

    /**
     * Launches and waits.
     *
     * @param stopMs   time until the kernel is told to end
     * @param cancelMs time that it may take from then on
     */
    Run run(LoadedKernel kernel, GeneratedKernel shape, byte[] parameters, long stopMs, long cancelMs) {
        window.arm();
        GridControl control = new GridControl();
        stopped = false;
        stopAtNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(stopMs);
        cancelAtNs = stopAtNs + TimeUnit.MILLISECONDS.toNanos(cancelMs);
        running = control;
        try {
            LaunchOutcome outcome = processor.launch(kernel, new LaunchSpec(new Dim3(shape.blocks(), 1, 1), new Dim3(shape.threads(), 1, 1), null,
                    FencedModule.CLUSTER_BYTES, parameters, false), text -> {}, control);
            running = null;
            return new Run("", stopped, outcome == LaunchOutcome.CANCELLED);
        } catch (KernelFault e) {
            running = null;
            return new Run(e.kind() + ": " + e.getMessage(), stopped, false);
        } finally {
            running = null;
        }
    }

    /** Frees what was allocated for a kernel; to be called after every one. */
    void forget(boolean wasHostile) {
        window.forget();
        if (wasHostile && ++hostile % RENEW_EVERY == 0) {
            long before = window.base();
            window.renew();
            if (window.base() != before) {
                throw new IllegalStateException("the window has moved");
            }
            window.allocate(GeneratedKernel.IN_BYTES);
            window.allocate(MOST_OUT_BYTES);
            window.keep();
        }
    }

    @Override
    public void close() {
        closing = true;
        processor.close();
    }
}
