package io.tessera.bench.memory;

import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/**
 * Measures how much memory a window's heap needs for a program's requests, beyond the minimum of any allocator. Prints
 * for each trace: operations; the peak of live bytes; the least quota with which the whole trace is served, found by
 * halving; fragmentation, which is the share of that quota beyond the peak; and, with the usual growth and no quota,
 * nanoseconds of processor time per operation, the peak of physical memory and how often kernels would have been stopped.
 *
 * <p>Fragmentation so defined is what a tenant loses: what lies in pieces where it is needed, what is rounded up from the
 * bytes that were asked for, and whole granules that are used in part all make the least quota larger. It is the worst of
 * the whole sequence, not an average, and no smaller than 1 - live / committed at the moment that needs the most, since the
 * heap may give back what is free elsewhere before it is refused.
 *
 * <p>Arguments: {@code --granule=MIB}, what is committed at once (2, the device's; an executor that replaces whole slots
 * of a sink has that of its window, up to 128); then files of recorded traces ({@link TraceFile}), or {@code generated} for
 * the traces of {@link TensorProgram}, 11 million operations in all. Without either: what was recorded on a GPU ({@link
 * RecordedTraces}), each by itself, then all of them as programs of one tenant that take turns in one window until 10
 * million operations are done. If one of these rows is above 5 %, the exit status is 1.
 */
public final class Fragmentation {
    private static final long SEED = 20261121;
    private static final long DEVICE_BYTES = 80L << 30;

    /** Bytes of a window that is large enough for two expandable segments beside the memory itself. */
    static final long RANGE_BYTES = 448L << 30;

    /** Precision of the least quota, as a share of the peak: 1/1024. */
    private static final int PRECISION_LOG2 = 10;

    /** Operations of recorded programs, and the maximum of their fragmentation. */
    private static final long RECORDED_OPERATIONS = 10_000_000;
    private static final double BOUND_PERCENT = 5;

    /** Source of this thread's processor time, which excludes other load of the machine. */
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static final String GRANULE = "--granule=";

    private final HeapSettings settings;
    private long operations;
    private long needed;
    private long live;

    private Fragmentation(long granuleBytes) {
        settings = HeapSettings.standard(RANGE_BYTES, granuleBytes);
    }

    /** Runs the program; see the class. */
    public static void main(String[] arguments) throws IOException {
        boolean granule = arguments.length > 0 && arguments[0].startsWith(GRANULE);
        List<String> files = List.of(arguments).subList(granule ? 1 : 0, arguments.length);
        System.out.println("trace                       operations  live peak  least quota  fragm.   ns/op  committed  rests");
        System.out.println("                                            [MiB]        [MiB]     [%]               [MiB]");
        Fragmentation all = new Fragmentation(granule
                ? Long.parseLong(arguments[0].substring(GRANULE.length())) << 20 : HeapProgram.GRANULE_BYTES);
        double worst = 0;
        if (files.isEmpty()) {
            worst = all.recorded();
        } else if (files.equals(List.of("generated"))) {
            all.generated();
        } else {
            for (String file : files) {
                all.report(Path.of(file).getFileName().toString(), TraceFile.read(Path.of(file)));
            }
        }
        System.out.println(String.format(Locale.ROOT, "%-26s %11d %10d %12d %7.2f", "all, weighted by memory",
                all.operations, all.live >> 20, all.needed >> 20, percent(all.live, all.needed)));
        if (worst > BOUND_PERCENT) {
            System.err.println("recorded programs: " + worst + " % is more than " + BOUND_PERCENT + " %");
            System.exit(1);
        }
    }

    /** Returns the worst fragmentation. */
    private double recorded() throws IOException {
        Map<String, MemoryTrace> traces = RecordedTraces.all();
        double worst = 0;
        for (Map.Entry<String, MemoryTrace> one : traces.entrySet()) {
            worst = Math.max(worst, report(one.getKey(), one.getValue()));
        }
        return Math.max(worst, report("all in one window", List.copyOf(traces.values()), RECORDED_OPERATIONS));
    }

    private void generated() {
        generate("segments", 40, trace -> new SegmentCache(trace, DEVICE_BYTES));
        generate("expandable", 1, trace -> new ExpandableCache(trace, DEVICE_BYTES));
        generate("uncached", 2, UncachedTensors::new);
    }

    private void generate(String name, int repeats, Function<MemoryTrace, TensorMemory> memory) {
        for (TensorProgram program : TensorProgram.values()) {
            MemoryTrace trace = new MemoryTrace();
            int steps = switch (program) {
                case TRAINING -> 1400;
                case IMAGES -> 3600;
                case SERVING -> 11_000;
            };
            program.run(memory.apply(trace), new Random(SEED), steps * repeats);
            report(name + " " + program.name().toLowerCase(Locale.ROOT), trace);
        }
    }

    private static double percent(long live, long needed) {
        return 100.0 * (needed - live) / needed;
    }

    private double report(String name, MemoryTrace trace) {
        return report(name, List.of(trace), trace.length());
    }

    private double report(String name, List<MemoryTrace> traces, long length) {
        long peak = TraceReplay.peakBytes(traces, length, SEED);
        long began = THREADS.getCurrentThreadCpuTime();
        TraceReplay.Outcome free = new TraceReplay(traces, length, SEED, settings, WindowHeap.UNLIMITED).run();
        double nanos = 1.0 * (THREADS.getCurrentThreadCpuTime() - began) / Math.max(1, length);
        if (!free.whole()) {
            throw new IllegalStateException(name + ": operation " + free.refusedAt() + " was refused: "
                    + free.refusal().text());
        }
        long quota = leastQuota(traces, length, peak, free.committedPeak());
        operations += length;
        live += peak;
        needed += quota;
        System.out.println(String.format(Locale.ROOT, "%-26s %11d %10d %12d %7.2f %7.0f %10d %6d", name, length,
                peak >> 20, quota >> 20, percent(peak, quota), nanos, free.committedPeak() >> 20, free.changes()));
        return percent(peak, quota);
    }

    /** Finds the least quota between the peak and the amount that was enough without a quota. */
    private long leastQuota(List<MemoryTrace> traces, long length, long peak, long enough) {
        long low = peak - 1;
        long high = Math.max(peak, enough);
        while (high - low > Math.max(settings.granuleBytes(), peak >> PRECISION_LOG2)) {
            long middle = low + (high - low) / 2;
            if (new TraceReplay(traces, length, SEED, settings, middle).run().whole()) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return high;
    }
}
