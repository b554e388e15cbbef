package io.tessera.bench.fencing;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
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
 * Reading of modules alone; reading, proving, fencing and printing; and verification of the result. Each operation processes all files of a
 * corpus once, in one thread. The measure is the processor time of that thread ({@link Work}), since elapsed time depends on other load of
 * the machine.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 6, time = 3)
@Measurement(iterations = 4, time = 3)
public class FencingBenchmark {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** A file of PTX, or a folder of such files. */
    @Param("")
    public String corpus;

    private List<byte[]> modules;
    private List<byte[]> fenced;
    private boolean begun;

    /** The amount of work, and its processor time. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Work {
        /** Bytes of PTX read. */
        public long bytes;
        /** Processor time, nanoseconds. */
        public long cpuNs;
    }

    /** Reads the files. */
    @Setup
    public void read() throws IOException, PtxException, FenceRefusedException {
        modules = modules(Path.of(corpus));
        fenced = new ArrayList<>();
        for (byte[] module : modules) {
            fenced.add(new Fencer(FenceMode.MASK).fence(PtxParser.parse(module)).ptx().getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Text to tree, for comparison. */
    @Benchmark
    public void parse(Work work, Blackhole hole) throws PtxException {
        long start = THREADS.getCurrentThreadCpuTime();
        for (byte[] module : modules) {
            hole.consume(PtxParser.parse(module));
        }
        count(work, start, modules);
    }

    /** From fenced text to the part of it that may be loaded: reading, verifying, printing. The bytes are the fenced text's. */
    @Benchmark
    public void verify(Work work, Blackhole hole) throws UnverifiedException {
        long start = THREADS.getCurrentThreadCpuTime();
        for (byte[] text : fenced) {
            hole.consume(FenceVerifier.verify(text, io.tessera.guardian.verify.Mode.MASK, false));
        }
        count(work, start, fenced);
    }

    /** Text to fenced text. */
    @Benchmark
    public void fence(Work work, Blackhole hole) throws PtxException, FenceRefusedException {
        long start = THREADS.getCurrentThreadCpuTime();
        for (byte[] module : modules) {
            hole.consume(new Fencer(FenceMode.MASK).fence(PtxParser.parse(module)).ptx());
        }
        count(work, start, modules);
    }

    /** As above, for the first time in a process, as at a program's first start. Later operations of the process do not count. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Fork(3)
    @Warmup(iterations = 0)
    @Measurement(iterations = 1)
    public void cold(Work work, Blackhole hole) throws PtxException, FenceRefusedException {
        if (!begun) {
            begun = true;
            fence(work, hole);
        }
    }

    private static void count(Work work, long start, List<byte[]> read) {
        work.cpuNs += THREADS.getCurrentThreadCpuTime() - start;
        read.forEach(module -> work.bytes += module.length);
    }

    /** Returns the modules of a file, or of all files of a folder whose names end in {@code .ptx}, in the order of the names. */
    static List<byte[]> modules(Path corpus) throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.isDirectory(corpus) ? Files.list(corpus) : Stream.of(corpus)) {
            files = found.filter(file -> file.toString().endsWith(".ptx")).sorted().toList();
        }
        if (files.isEmpty()) {
            throw new IOException("no PTX in " + corpus);
        }
        List<byte[]> modules = new ArrayList<>();
        for (Path file : files) {
            modules.add(Files.readAllBytes(file));
        }
        return modules;
    }
}
