package io.tessera.bench.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.heap.HeapRefusal;
import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceFileTest {
    @TempDir
    private Path folder;

    private MemoryTrace read(String... lines) throws IOException {
        return TraceFile.read(Files.write(folder.resolve("trace"), List.of(lines)));
    }

    private static List<String> calls(MemoryTrace trace) {
        List<String> calls = new ArrayList<>();
        for (int i = 0; i < trace.length(); i++) {
            calls.add(trace.kind(i) + " " + trace.block(i) + " " + trace.bytes(i));
        }
        return calls;
    }

    @Test
    void callsOfTheDriverAreTakenByWhatTheyMadeAndFreed() throws IOException {
        MemoryTrace trace = read(
                "17 9 cuInit 0 0 0 0 0 0 0 0 0",
                "18 9 cuMemAlloc_v2 0 7f0000000000 200000 0 0 0 0 0 0",
                "19 9 cuMemAlloc_v2 2 7ffe00112233 20000000000 0 0 0 0 0 0",
                "20 9 cuMemAddressReserve 0 7f1000000000 40000000 0 0 0 0 0 0",
                "21 9 cuMemCreate 0 55aa 1400000 7ffe00 0 0 0 0 0",
                "22 9 cuMemFree_v2 0 7f0000000000 0 0 0 0 0 0 0",
                "23 8 cuMemAllocAsync 0 7f0000000000 300 0 0 0 0 0 0",
                "24 9 cuMemFree_v2 0 123400 0 0 0 0 0 0 0",
                "25 9 cuMemRelease 0 55aa 0 0 0 0 0 0 0",
                "26 9 cuMemAddressFree 0 7f1000000000 40000000 0 0 0 0 0 0");
        assertEquals(List.of("ALLOCATE 0 2097152", "RESERVE 1 1073741824", "CREATE 2 20971520", "FREE 0 0",
                "ALLOCATE 0 768", "DESTROY 2 0", "RELEASE 1 0"), calls(trace));
        assertEquals((2L << 20) + (20L << 20), trace.peakBytes());
    }

    @Test
    void eventsOfAnAllocatorAreTaken() throws IOException {
        assertEquals(List.of("ALLOCATE 0 512", "ALLOCATE 1 1024", "FREE 0 0"),
                calls(read("# of one process", "A 7f00 512", "A 8f00 1024", "F 7f00", "F 99")));
    }

    @Test
    void whatIsKeptIsTaken() throws IOException {
        List<String> lines = List.of("+ 0 512", "r 1 1073741824", "- 0", "c 0 20971520", "+ 2 1024", "l 1", "d 0", "+ 0 3");
        Path file = folder.resolve("kept.gz");
        try (OutputStream compressed = new GZIPOutputStream(Files.newOutputStream(file))) {
            compressed.write(String.join("\n", lines).getBytes(StandardCharsets.US_ASCII));
        }
        MemoryTrace trace = TraceFile.read(file);
        List<String> calls = List.of("ALLOCATE 0 512", "RESERVE 1 1073741824", "FREE 0 0", "CREATE 0 20971520",
                "ALLOCATE 2 1024", "RELEASE 1 0", "DESTROY 0 0", "ALLOCATE 0 3");
        assertEquals(calls, calls(trace));
        trace.endAll();
        List<String> ended = new ArrayList<>(calls);
        ended.addAll(List.of("FREE 2 0", "FREE 0 0"));
        assertEquals(ended, calls(trace));
    }

    @Test
    void aDamagedTraceIsSaidWithItsLine() throws IOException {
        for (String bad : List.of("A zz 5", "A 7f00", "A 7f00 0", "x", "1 2 cuMemAlloc_v2 0 7f00",
                "1 2 cuMemAlloc_v2 0 7e00 5 0 0 0 0 0 0", "+ x 5", "+ 1", "- 0", "d 3")) {
            IOException damaged = assertThrows(IOException.class, () -> read("A 7e00 16", bad), bad);
            assertTrue(damaged.getMessage().contains(":2: "), damaged.getMessage());
        }
    }

    @Test
    void aReplayServesAllOrNamesWhatWasRefused() {
        MemoryTrace trace = new MemoryTrace();
        TensorProgram.SERVING.run(new SegmentCache(trace, 40L << 30), new Random(3), 500);
        HeapSettings settings = HeapSettings.standard(64L << 30, HeapProgram.GRANULE_BYTES);
        TraceReplay.Outcome whole = new TraceReplay(trace, settings, WindowHeap.UNLIMITED).run();
        assertTrue(whole.whole() && whole.committedPeak() >= trace.peakBytes());
        assertTrue(new TraceReplay(trace, settings, trace.peakBytes() / 16 * 17).run().whole());
        TraceReplay.Outcome refused = new TraceReplay(trace, settings, trace.peakBytes() / 2).run();
        assertEquals(HeapRefusal.OVER_QUOTA, refused.refusal());
        assertEquals(MemoryTrace.Kind.ALLOCATE, trace.kind((int) refused.refusedAt()));
    }

    @Test
    void programsThatTakeTurnsAreServedAndBeginAgain() {
        List<MemoryTrace> traces = new ArrayList<>();
        for (TensorProgram program : TensorProgram.values()) {
            MemoryTrace trace = new MemoryTrace();
            program.run(new UncachedTensors(trace), new Random(7), 60);
            traces.add(trace);
        }
        long length = 4L * traces.stream().mapToInt(MemoryTrace::length).max().orElseThrow();
        HeapSettings settings = HeapSettings.standard(64L << 30, HeapProgram.GRANULE_BYTES);
        long peak = TraceReplay.peakBytes(traces, length, 5);
        assertTrue(peak > traces.getFirst().peakBytes(), "several are live at once");
        TraceReplay.Outcome whole = new TraceReplay(traces, length, 5, settings, WindowHeap.UNLIMITED).run();
        assertTrue(whole.whole() && whole.committedPeak() >= peak);
        assertEquals(HeapRefusal.OVER_QUOTA, new TraceReplay(traces, length, 5, settings, peak - 1).run().refusal());
        assertTrue(new TraceReplay(traces, length, 5, settings, peak / 20 * 21).run().whole(), "within 5 %");
    }

    @Test
    void programsFreeWhatTheyMake() {
        for (TensorProgram program : TensorProgram.values()) {
            MemoryTrace trace = new MemoryTrace();
            program.run(new UncachedTensors(trace), new Random(7), 60);
            int live = 0;
            for (int i = 0; i < trace.length(); i++) {
                live += trace.kind(i) == MemoryTrace.Kind.ALLOCATE ? 1 : -1;
            }
            assertEquals(0, live, program.toString());
        }
    }
}
