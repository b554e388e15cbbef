package io.tessera.bench.memory;

import io.tessera.guardian.heap.HeapRefusal;
import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;
import java.util.List;

/** Runs traces of programs on a window's heap whose memory is only counted. */
final class TraceReplay {
    /**
     * Result of a replay.
     *
     * @param refusedAt     the operation that was refused, or -1
     * @param refusal       reason of the refusal, or null
     * @param committedPeak peak of physical memory, including memory that the program created itself
     * @param changes       number of times that a tenant's kernels would have been stopped
     */
    record Outcome(long refusedAt, HeapRefusal refusal, long committedPeak, long changes) {
        boolean whole() {
            return refusedAt < 0;
        }
    }

    private final List<MemoryTrace> traces;
    private final Schedule schedule;
    private final long length;
    private final CountedMemory memory = new CountedMemory();
    private final WindowHeap heap;
    private final List<HeapProgram> programs;

    /** Creates a replay of one program, once. */
    TraceReplay(MemoryTrace trace, HeapSettings settings, long quotaBytes) {
        this(List.of(trace), trace.length(), 0, settings, quotaBytes);
    }

    /**
     * Creates a replay of several programs of one tenant in one window, which take turns and begin again when they have ended.
     *
     * @param traces the traces; one that is run to its end must end all of its blocks
     * @param length total number of operations
     */
    TraceReplay(List<MemoryTrace> traces, long length, long seed, HeapSettings settings, long quotaBytes) {
        this.traces = traces;
        this.schedule = new Schedule(traces, seed);
        this.length = length;
        this.heap = new WindowHeap(settings, memory, quotaBytes);
        this.programs = traces.stream().map(trace -> new HeapProgram(trace, heap)).toList();
    }

    /** Runs to the end or to the first refusal. May be called once. */
    Outcome run() {
        long peak = 0;
        long seenChanges = 0;
        long committed = 0;
        long charged = 0;
        for (long done = 0; done < length; done++) {
            schedule.next();
            MemoryTrace trace = traces.get(schedule.program());
            int at = schedule.at();
            long answer = programs.get(schedule.program()).step(at);
            if (answer < 0) {
                return new Outcome(done, HeapRefusal.of(answer), peak, memory.changes());
            }
            charged += switch (trace.kind(at)) {
                case CREATE -> trace.bytes(at);
                case DESTROY -> -answer;
                default -> 0;
            };
            if (memory.changes() != seenChanges) {
                seenChanges = memory.changes();
                committed = heap.statistics().committedBytes(); // it takes its time, so only when it may differ
            }
            peak = Math.max(peak, committed + charged);
        }
        return new Outcome(-1, null, peak, memory.changes());
    }

    /** Returns the largest sum of live memory at one time when programs take turns, which is the minimum for any allocator. */
    static long peakBytes(List<MemoryTrace> traces, long length, long seed) {
        Schedule schedule = new Schedule(traces, seed);
        long[][] held = traces.stream().map(trace -> new long[trace.blockCount()]).toArray(long[][]::new);
        long live = 0;
        long peak = 0;
        for (long done = 0; done < length; done++) {
            schedule.next();
            MemoryTrace trace = traces.get(schedule.program());
            int at = schedule.at();
            long[] blocks = held[schedule.program()];
            switch (trace.kind(at)) {
                case ALLOCATE, CREATE -> {
                    blocks[trace.block(at)] = trace.bytes(at);
                    live += trace.bytes(at);
                    peak = Math.max(peak, live);
                }
                case FREE, DESTROY -> live -= blocks[trace.block(at)];
                case RESERVE, RELEASE -> {
                    // no memory
                }
            }
        }
        return peak;
    }
}
