package io.tessera.bench.agent;

import io.tessera.agent.boot.Addresses;
import io.tessera.agent.boot.MemoryKind;
import io.tessera.agent.boot.Recorder;
import io.tessera.agent.clock.Ticks;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * A loop of launches as JCuda's callers write it, with the recorder's calls and without, in alternating blocks. The launch is a stand-in
 * that computes for a time; the code after it is what the agent's advice adds after {@code cuLaunchKernel}. Blocks are measured by the
 * processor time of their thread, so that neither includes other load of the machine; the results are in the counters. One thread.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 10, time = 1)
public class LaunchLoopBenchmark {
    /** Launches of a block: the clock of processor time costs some hundred nanoseconds. */
    private static final int BLOCK = 1000;

    /** The kernel's object: one number, as in JCuda's NativePointerObject. */
    static final class Kernel {
        private final long nativePointer;

        Kernel(long nativePointer) {
            this.nativePointer = nativePointer;
        }

        @Override
        public String toString() {
            return "kernel " + nativePointer;
        }
    }

    /** The loop without the agent, and its data. */
    @State(Scope.Thread)
    public static class Loop {
        /** Work of a launch in {@link Blackhole#consumeCPU}'s tokens: none, or about that of a launch on an H200. */
        @Param({"0", "1500"})
        public long tokens;

        private final Kernel kernel = new Kernel(0x1000);
        /** As JCuda returns it: a shared boxed value. */
        private final Integer success = 0;

        private void launch() {
            Blackhole.consumeCPU(tokens);
        }
    }

    /** The recorder in one of its modes. */
    @State(Scope.Benchmark)
    public static class Recording {
        private volatile long plainNs;

        /** As {@code record=} takes it; the second is the default. */
        @Param({"off", "sampled:64", "on"})
        public String mode;

        /**
         * Tells the recorder of the kernel's class and switches it. Its clock does not advance in blocks without records, since stacks are
         * bounded by time and an application has no such blocks.
         */
        @Setup
        public void begin() {
            Ticks.use(() -> System.nanoTime() - plainNs);
            Addresses.define(Kernel.class.getName(), "nativePointer", null, true);
            Recorder.mode(mode);
            Recorder.named(new Kernel(0x1000), "vector_add", 0);
        }
    }

    /** A block of launches alone, then a block of recorded launches. */
    @Benchmark
    public void launches(Loop loop, Recording recording, BlockTimes times) {
        long wallNs = System.nanoTime();
        long startNs = times.nowNs();
        plain(loop);
        recording.plainNs += System.nanoTime() - wallNs;
        long betweenNs = times.nowNs();
        recorded(loop);
        times.recordedNs += times.nowNs() - betweenNs;
        times.plainNs += betweenNs - startNs;
        times.launches += BLOCK;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static void plain(Loop loop) {
        for (int i = 0; i < BLOCK; i++) {
            loop.launch();
        }
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static void recorded(Loop loop) {
        for (int i = 0; i < BLOCK; i++) {
            loop.launch();
            Recorder.launched(loop.kernel, loop.success);
        }
    }

    /** A recorded allocation and its free, without the driver's own 10 us. */
    @Benchmark
    public Object allocation(Loop loop, Recording recording) {
        long[] address = {0x7f00_0000_1000L};
        Recorder.allocated(address, 4096, 1, MemoryKind.DEVICE.ordinal(), loop.success);
        Recorder.freed(Recorder.freeing(address), loop.success, null);
        return address;
    }
}
