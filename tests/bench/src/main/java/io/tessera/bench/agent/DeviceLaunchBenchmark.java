package io.tessera.bench.agent;

import io.tessera.agent.boot.Addresses;
import io.tessera.agent.boot.Recorder;
import io.tessera.agent.clock.Ticks;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * {@link LaunchLoopBenchmark} with JCuda's launches of an empty kernel on a real GPU. The device is idle before each block, so that the
 * queue is never full and a block measures the processor cost of the launches. Needs JCuda's natives on the class path; the suite {@code
 * jvm} of {@code tests/gpu} runs it. One thread.
 *
 * <p>Different processes, and blocks of one process before and after the agent was loaded, differ by a multiple of the effect measured
 * here. Alternating short blocks of the same compiled code do not.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DeviceLaunchBenchmark {
    /** Launches of a block: fewer than the driver's queue takes (1,024). */
    private static final int BLOCK = 500;
    private static final String EMPTY = """
            .version 7.8
            .target sm_75
            .address_size 64
            .visible .entry nothing() { ret; }
            """;

    /** A context on the first device, and the kernel. */
    @State(Scope.Benchmark)
    public static class Device {
        /** As {@code record=} takes it; the second is the default. */
        @Param({"off", "sampled:64", "on"})
        public String mode;

        private final CUcontext context = new CUcontext();
        private final CUfunction kernel = new CUfunction();
        private volatile long plainNs;

        /** Opens the device, tells the recorder of JCuda's class of kernels, and switches it. */
        @Setup
        public void open() {
            JCudaDriver.setExceptionsEnabled(true);
            JCudaDriver.cuInit(0);
            CUdevice device = new CUdevice();
            JCudaDriver.cuDeviceGet(device, 0);
            JCudaDriver.cuCtxCreate(context, 0, device);
            CUmodule module = new CUmodule();
            JCudaDriver.cuModuleLoadData(module, (EMPTY + '\0').getBytes(StandardCharsets.US_ASCII));
            JCudaDriver.cuModuleGetFunction(kernel, module, "nothing");
            // Its clock does not advance in blocks without records, since stacks are bounded by time.
            Ticks.use(() -> System.nanoTime() - plainNs);
            Addresses.define("jcuda.NativePointerObject", "nativePointer", null, true);
            Recorder.mode(mode);
            Recorder.named(kernel, "nothing", 0);
        }

        /** Leaves the device. */
        @TearDown
        public void close() {
            JCudaDriver.cuCtxDestroy(context);
        }

        private int launch() {
            return JCudaDriver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, null, null, null);
        }
    }

    /** A block of recorded launches between two blocks of launches alone. */
    @Benchmark
    public void launches(Device device, BlockTimes times) {
        times.plainNs += plain(device, times);
        times.recordedNs += recorded(device, times);
        times.againNs += plain(device, times);
        times.launches += BLOCK;
    }

    private static long plain(Device device, BlockTimes times) {
        long wallNs = System.nanoTime();
        long ns = plainLoop(device, times);
        device.plainNs += System.nanoTime() - wallNs;
        return ns;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long plainLoop(Device device, BlockTimes times) {
        JCudaDriver.cuCtxSynchronize();
        long startNs = times.nowNs();
        for (int i = 0; i < BLOCK; i++) {
            device.launch();
        }
        return times.nowNs() - startNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long recorded(Device device, BlockTimes times) {
        JCudaDriver.cuCtxSynchronize();
        long startNs = times.nowNs();
        for (int i = 0; i < BLOCK; i++) {
            Recorder.launched(device.kernel, device.launch());
        }
        return times.nowNs() - startNs;
    }
}
