package io.tessera.bench.memory;

import java.util.Map;
import java.util.TreeMap;

/** A minimal allocator for comparison: free ranges in a tree by address, first fit. */
final class FirstFitTree {
    private static final long ALIGNMENT = 256;

    private final TreeMap<Long, Long> free = new TreeMap<>();
    private final TreeMap<Long, Long> live = new TreeMap<>();

    FirstFitTree(long bytes) {
        free.put(0L, bytes);
    }

    long allocate(long bytes) {
        long rounded = bytes + ALIGNMENT - 1 & -ALIGNMENT;
        for (Map.Entry<Long, Long> range : free.entrySet()) {
            if (range.getValue() >= rounded) {
                long start = range.getKey();
                long rest = range.getValue() - rounded;
                free.remove(start);
                if (rest > 0) {
                    free.put(start + rounded, rest);
                }
                live.put(start, rounded);
                return start;
            }
        }
        return -1;
    }

    long free(long start) {
        long bytes = live.remove(start);
        long joinedStart = start;
        long joined = bytes;
        Map.Entry<Long, Long> below = free.lowerEntry(start);
        if (below != null && below.getKey() + below.getValue() == start) {
            joinedStart = below.getKey();
            joined += below.getValue();
        }
        Long above = free.remove(start + bytes);
        free.put(joinedStart, above == null ? joined : joined + above);
        return bytes;
    }
}
