package io.tessera.executor.memory;

import java.util.Map;
import java.util.TreeMap;

/**
 * Which addresses of a window's host part have pinned memory: first fit by address, in whole granules, so that the rest of
 * a granule is never nobody's. Thread-safe.
 */
public final class HostAddresses {
    private final long begin;
    private final long end;
    private final long granuleBytes;
    private final TreeMap<Long, Long> taken = new TreeMap<>();

    /** A range whose begin and end are multiples of the granule, all of it free. */
    public HostAddresses(long begin, long end, long granuleBytes) {
        this.begin = begin;
        this.end = end;
        this.granuleBytes = granuleBytes;
    }

    /** Whether an address lies in the range, taken or not. */
    public boolean contains(long address) {
        return address >= begin && address < end;
    }

    /** Bytes in all. */
    public long bytes() {
        return end - begin;
    }

    /** Bytes that are taken. */
    public synchronized long takenBytes() {
        return taken.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Bytes that memory takes here. */
    public long rounded(long bytes) {
        return bytes + granuleBytes - 1 & -granuleBytes;
    }

    /**
     * Takes a place.
     *
     * @param bytes    a multiple of the granule
     * @param notBelow lowest address that will do; 0: any
     * @return its address; 0: there is none
     */
    public synchronized long take(long bytes, long notBelow) {
        if (bytes <= 0 || bytes > end - begin || notBelow < 0) {
            return 0;
        }
        long at = Math.max(begin, notBelow + granuleBytes - 1 & -granuleBytes);
        Map.Entry<Long, Long> before = taken.floorEntry(at);
        if (before != null) {
            at = Math.max(at, before.getKey() + before.getValue());
        }
        Map.Entry<Long, Long> next = taken.ceilingEntry(at);
        while (next != null && next.getKey() - at < bytes) {
            at = next.getKey() + next.getValue();
            next = taken.ceilingEntry(at);
        }
        if (at > end - bytes) {
            return 0;
        }
        taken.put(at, bytes);
        return at;
    }

    /** Gives a place back. */
    public synchronized void give(long address) {
        taken.remove(address);
    }
}
