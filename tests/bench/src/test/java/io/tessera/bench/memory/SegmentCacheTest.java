package io.tessera.bench.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The segments that PyTorch's documentation and source promise for a few requests. */
class SegmentCacheTest {
    private static final long MIB = 1L << 20;
    private static final long KIB = 1L << 10;

    private final MemoryTrace trace = new MemoryTrace();
    private final SegmentCache cache = new SegmentCache(trace, 1L << 30);

    private List<String> driverCalls() {
        List<String> calls = new ArrayList<>();
        for (int i = 0; i < trace.length(); i++) {
            calls.add(trace.kind(i) + " " + trace.block(i) + " " + trace.bytes(i) / MIB);
        }
        return calls;
    }

    @Test
    void smallTensorsShareTwoMebibytes() {
        cache.allocate(1);
        cache.allocate(MIB - 512);
        cache.allocate(MIB);
        assertEquals(List.of("ALLOCATE 0 2"), driverCalls());
        cache.allocate(512);
        assertEquals(List.of("ALLOCATE 0 2", "ALLOCATE 1 2"), driverCalls(), "the first was full to the last byte");
    }

    @Test
    void middleTensorsShareTwentyAndLargeOnesAreRoundedToTwo() {
        cache.allocate(MIB + 1);
        cache.allocate(9 * MIB);
        cache.allocate(10 * MIB);
        cache.allocate(11 * MIB + 1);
        assertEquals(List.of("ALLOCATE 0 20", "ALLOCATE 1 10", "ALLOCATE 2 12"), driverCalls());
    }

    @Test
    void aFreeBlockServesTheNextRequestBestFitFirst() {
        int thirty = cache.allocate(30 * MIB);
        int twelve = cache.allocate(12 * MIB);
        cache.free(thirty);
        cache.free(twelve);
        cache.allocate(11 * MIB + 512 * KIB); // the rest is too little to split off
        cache.allocate(20 * MIB);
        cache.allocate(10 * MIB); // the rest of the thirty
        assertEquals(List.of("ALLOCATE 0 30", "ALLOCATE 1 12"), driverCalls());
    }

    @Test
    void onlyWholeSegmentsGoBack() {
        int first = cache.allocate(2 * MIB);
        int second = cache.allocate(2 * MIB);
        cache.free(first);
        cache.emptyCache();
        assertEquals(List.of("ALLOCATE 0 20"), driverCalls());
        cache.free(second);
        cache.emptyCache();
        assertEquals(List.of("ALLOCATE 0 20", "FREE 0 0"), driverCalls());
        assertEquals(20 * MIB, trace.peakBytes());
    }

    @Test
    void aFullDeviceGetsBackWhatIsCached() {
        int large = cache.allocate(1000 * MIB);
        cache.free(large);
        cache.allocate(1002 * MIB);
        assertEquals(List.of("ALLOCATE 0 1000", "FREE 0 0", "ALLOCATE 0 1002"), driverCalls());
    }
}
