package io.tessera.bench.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * PyTorch's caching allocator with expandable segments, as far as the driver sees it: one address range for small and one
 * for large tensors, each 9/8 of the device's memory, in which memory is made at the end, 2 or 20 MiB at a time, and
 * given back from the end when the cache is emptied. Unlike PyTorch's, this one does not give back from the middle.
 * Where tensors lie in it is first fit, which is enough to know how far it grows.
 */
final class ExpandableCache implements TensorMemory {
    private static final long MIB = 1L << 20;
    private static final long MIN_BLOCK = 512;

    private static final class Range {
        final long pageBytes;
        final Deque<Integer> pages = new ArrayDeque<>();

        /** Start and end of each tensor, in the order of addresses. */
        final List<long[]> runs = new ArrayList<>();

        Range(long pageBytes) {
            this.pageBytes = pageBytes;
        }
    }

    /** A tensor's place. */
    private record Place(Range range, long start, long bytes) {
    }

    private final MemoryTrace trace;
    private final Range small = new Range(2 * MIB);
    private final Range large = new Range(20 * MIB);
    private final List<Place> tensors = new ArrayList<>();
    private final List<Integer> unused = new ArrayList<>();

    ExpandableCache(MemoryTrace trace, long capacityBytes) {
        this.trace = trace;
        trace.begin(MemoryTrace.Kind.RESERVE, capacityBytes / 8 * 9);
        trace.begin(MemoryTrace.Kind.RESERVE, capacityBytes / 8 * 9);
    }

    @Override
    public int allocate(long bytes) {
        long rounded = (bytes + MIN_BLOCK - 1) / MIN_BLOCK * MIN_BLOCK;
        Range range = rounded <= MIB ? small : large;
        long start = 0;
        int at = 0;
        for (; at < range.runs.size(); at++) {
            long[] run = range.runs.get(at);
            if (run[0] - start >= rounded) {
                break;
            }
            start = run[1];
        }
        range.runs.add(at, new long[] {start, start + rounded});
        while (range.pages.size() * range.pageBytes < start + rounded) {
            range.pages.addLast(trace.begin(MemoryTrace.Kind.CREATE, range.pageBytes));
        }
        int tensor = unused.isEmpty() ? tensors.size() : unused.removeLast();
        Place place = new Place(range, start, rounded);
        if (tensor == tensors.size()) {
            tensors.add(place);
        } else {
            tensors.set(tensor, place);
        }
        return tensor;
    }

    @Override
    public void free(int tensor) {
        Place place = tensors.get(tensor);
        unused.add(tensor);
        int low = 0;
        int high = place.range.runs.size() - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (place.range.runs.get(middle)[0] < place.start) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        place.range.runs.remove(low);
    }

    @Override
    public void emptyCache() {
        for (Range range : List.of(small, large)) {
            long end = range.runs.isEmpty() ? 0 : range.runs.getLast()[1];
            while ((range.pages.size() - 1) * range.pageBytes >= end && !range.pages.isEmpty()) {
                trace.end(MemoryTrace.Kind.DESTROY, range.pages.removeLast());
            }
        }
    }
}
