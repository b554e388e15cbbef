package io.tessera.executor.memory;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Allocates addresses for pinned memory in the host parts of a window: first fit by address, in whole granules, so that every granule has one owner.
 * Thread-safe.
 */
public final class HostAddresses {
    private final List<Range> ranges;
    private final long granuleBytes;
    private final TreeMap<Long, Long> taken = new TreeMap<>();

    /** Addresses from {@code begin} up to, but without, {@code end}, both multiples of the granule. */
    public record Range(long begin, long end) {
        private boolean contains(long address) {
            return address >= begin && address < end;
        }
    }

    /**
     * Creates an allocator whose ranges are all free.
     *
     * @param ranges in ascending order and disjoint; the first one that has room is used
     */
    public HostAddresses(List<Range> ranges, long granuleBytes) {
        this.ranges = List.copyOf(ranges);
        this.granuleBytes = granuleBytes;
    }

    /** Returns whether an address lies in the ranges, taken or not. */
    public boolean contains(long address) {
        for (Range range : ranges) { // no java.util.stream, since every copy calls this
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the bytes of all ranges. */
    public long bytes() {
        return ranges.stream().mapToLong(range -> range.end - range.begin).sum();
    }

    /** Returns the bytes that are taken. */
    public synchronized long takenBytes() {
        return taken.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the bytes that memory of a size takes here. */
    public long rounded(long bytes) {
        return bytes + granuleBytes - 1 & -granuleBytes;
    }

    /**
     * Takes a place.
     *
     * @param bytes    a multiple of the granule
     * @param notBelow lowest acceptable address; 0: any
     * @return its address; 0: there is none
     */
    public synchronized long take(long bytes, long notBelow) {
        for (Range range : ranges) {
            long at = bytes <= 0 || bytes > range.end - range.begin || notBelow < 0 ? 0 : find(range, bytes, notBelow);
            if (at != 0) {
                taken.put(at, bytes);
                return at;
            }
        }
        return 0;
    }

    private long find(Range range, long bytes, long notBelow) {
        long at = Math.max(range.begin, notBelow + granuleBytes - 1 & -granuleBytes);
        Map.Entry<Long, Long> before = taken.floorEntry(at);
        if (before != null) {
            at = Math.max(at, before.getKey() + before.getValue());
        }
        Map.Entry<Long, Long> next = taken.ceilingEntry(at);
        while (next != null && next.getKey() - at < bytes) {
            at = next.getKey() + next.getValue();
            next = taken.ceilingEntry(at);
        }
        return at > range.end - bytes ? 0 : at;
    }

    /** Gives a place back. */
    public synchronized void give(long address) {
        taken.remove(address);
    }
}
