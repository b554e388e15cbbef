package io.tessera.bench.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What was recorded on a GPU, on the heap. The figure over 10 million operations is the benchmark's. */
class RecordedTracesTest {
    private static final long OPERATIONS = 600_000;
    private static final HeapSettings SETTINGS = HeapSettings.standard(Fragmentation.RANGE_BYTES, HeapProgram.GRANULE_BYTES);

    @Test
    void eachProgramIsServedAndLeavesNothing() throws IOException {
        Map<String, MemoryTrace> traces = RecordedTraces.all();
        assertTrue(traces.size() >= 3, "only " + traces.keySet());
        for (Map.Entry<String, MemoryTrace> one : traces.entrySet()) {
            MemoryTrace trace = one.getValue();
            WindowHeap heap = new WindowHeap(SETTINGS, new CountedMemory(), WindowHeap.UNLIMITED);
            HeapProgram program = new HeapProgram(trace, heap);
            for (int at = 0; at < trace.length(); at++) {
                int now = at;
                assertTrue(program.step(at) >= 0, () -> one.getKey() + ", operation " + now);
            }
            assertEquals(0, heap.statistics().liveBytes(), one.getKey());
            heap.trim();
            assertEquals(0, heap.statistics().committedBytes(), one.getKey());
        }
    }

    private static void requireServedWithinFivePercent(String name, List<MemoryTrace> traces, long length, long seed) {
        long quota = TraceReplay.peakBytes(traces, length, seed) / 95 * 100;
        TraceReplay.Outcome outcome = new TraceReplay(traces, length, seed, SETTINGS, quota).run();
        assertTrue(outcome.whole(), () -> name + ": operation " + outcome.refusedAt() + ": " + outcome.refusal());
    }

    @Test
    void fivePercentOfTheQuotaIsEnoughForWhatFragmentsIt() throws IOException {
        Map<String, MemoryTrace> traces = RecordedTraces.all();
        for (Map.Entry<String, MemoryTrace> one : traces.entrySet()) {
            requireServedWithinFivePercent(one.getKey(), List.of(one.getValue()), one.getValue().length(), 0);
        }
        for (long seed : new long[] {1, 2, 3}) {
            requireServedWithinFivePercent("seed " + seed, List.copyOf(traces.values()), OPERATIONS, seed);
        }
    }
}
