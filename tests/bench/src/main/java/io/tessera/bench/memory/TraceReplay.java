package io.tessera.bench.memory;

import io.tessera.guardian.heap.CommitPort;
import io.tessera.guardian.heap.HeapRefusal;
import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;

/** Runs a {@link MemoryTrace} on a window's heap whose memory is only counted. */
final class TraceReplay {
    /** Of NVIDIA GPUs. */
    static final long GRANULE_BYTES = 2L << 20;

    /** Counts the changes that stop a tenant. */
    private static final class CountedMemory implements CommitPort {
        private long changes;

        @Override
        public boolean beginChange() {
            changes++;
            return true;
        }

        @Override
        public boolean commit(long offset, long bytes) {
            return true;
        }

        @Override
        public void decommit(long offset, long bytes) {
            // nothing is there
        }
    }

    /**
     * How a replay went.
     *
     * @param refusedAt     the operation that was refused, or -1
     * @param refusal       why, or null
     * @param committedPeak the most physical memory at one time, with what the program made itself
     * @param changes       times that a tenant's kernels would have been brought to rest
     */
    record Outcome(int refusedAt, HeapRefusal refusal, long committedPeak, long changes) {
        boolean whole() {
            return refusedAt < 0;
        }
    }

    private final MemoryTrace trace;
    private final CountedMemory memory = new CountedMemory();
    private final WindowHeap heap;
    private final long[] offsets;

    TraceReplay(MemoryTrace trace, HeapSettings settings, long quotaBytes) {
        this.trace = trace;
        this.heap = new WindowHeap(settings, memory, quotaBytes);
        this.offsets = new long[trace.blockCount()];
    }

    /** Runs the trace up to its end or to the first refusal. Once. */
    Outcome run() {
        long peak = 0;
        long seenChanges = 0;
        long committed = 0;
        long charged = 0;
        for (int at = 0; at < trace.length(); at++) {
            long answer = step(at);
            if (answer < 0) {
                return new Outcome(at, HeapRefusal.of(answer), peak, memory.changes);
            }
            charged += switch (trace.kind(at)) {
                case CREATE -> trace.bytes(at);
                case DESTROY -> -answer;
                default -> 0;
            };
            if (memory.changes != seenChanges) {
                seenChanges = memory.changes;
                committed = heap.statistics().committedBytes(); // it takes its time, so only when it may differ
            }
            peak = Math.max(peak, committed + charged);
        }
        return new Outcome(-1, null, peak, memory.changes);
    }

    private long step(int at) {
        int block = trace.block(at);
        long bytes = trace.bytes(at);
        return switch (trace.kind(at)) {
            case ALLOCATE -> offsets[block] = heap.allocate(bytes);
            case FREE -> heap.free(offsets[block]);
            case RESERVE -> offsets[block] = heap.reserve(bytes, GRANULE_BYTES, WindowHeap.ANYWHERE);
            case RELEASE -> heap.release(offsets[block]);
            case CREATE -> {
                offsets[block] = bytes;
                yield heap.charge(bytes);
            }
            case DESTROY -> {
                heap.discharge(offsets[block]);
                yield offsets[block];
            }
        };
    }
}
