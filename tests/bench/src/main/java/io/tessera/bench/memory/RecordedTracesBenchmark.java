package io.tessera.bench.memory;

import io.tessera.guardian.heap.HeapRefusal;
import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Allocations and frees in the windows of four tenants, each of which runs every recorded program
 * ({@link RecordedTraces}), all taking turns: one operation at a time, with its distribution. Two readings of the clock
 * are part of each (20 to 30 ns). The heaps grow while they are measured, as an executor's do; their memory is only counted.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class RecordedTracesBenchmark {
    private static final int TENANTS = 4;
    private static final long SEED = 20261122;

    private final List<HeapProgram> programs = new ArrayList<>();
    private Schedule schedule;

    /** Every program in every window, at its beginning. */
    @Setup(Level.Trial)
    public void begin() throws IOException {
        List<MemoryTrace> traces = List.copyOf(RecordedTraces.all().values());
        List<MemoryTrace> all = new ArrayList<>();
        for (int tenant = 0; tenant < TENANTS; tenant++) {
            WindowHeap heap = new WindowHeap(HeapSettings.standard(Fragmentation.RANGE_BYTES, HeapProgram.GRANULE_BYTES),
                    new CountedMemory(), WindowHeap.UNLIMITED);
            for (MemoryTrace trace : traces) {
                programs.add(new HeapProgram(trace, heap));
                all.add(trace);
            }
        }
        schedule = new Schedule(all, SEED);
    }

    /** The next operation of the program that has its turn. */
    @Benchmark
    public long operation() {
        schedule.next();
        long answer = programs.get(schedule.program()).step(schedule.at());
        if (answer < 0) {
            throw new IllegalStateException(HeapRefusal.of(answer).text());
        }
        return answer;
    }
}
