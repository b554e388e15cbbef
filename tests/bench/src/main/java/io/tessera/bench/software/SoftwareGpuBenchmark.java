package io.tessera.bench.software;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One launch of each workload, on one core. {@link KernelRates} turns the times into rates and ratios. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class SoftwareGpuBenchmark {
    /** What runs. */
    @Param
    public BenchmarkKernel workload;

    private BenchmarkDevice compiled;
    private BenchmarkDevice interpreted;
    private PlainLoops loops;

    /** Makes the devices and their data. */
    @Setup(Level.Trial)
    public void open() {
        compiled = new BenchmarkDevice(true);
        interpreted = new BenchmarkDevice(false);
        loops = new PlainLoops();
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void close() {
        compiled.close();
        interpreted.close();
    }

    /** As JVM bytecode. */
    @Benchmark
    public void compiled() {
        compiled.launch(workload);
    }

    /** By the interpreter. */
    @Benchmark
    public void interpreted() {
        interpreted.launch(workload);
    }

    /** The same work as a loop over Java arrays. */
    @Benchmark
    public float plainJava() {
        return loops.run(workload);
    }
}
