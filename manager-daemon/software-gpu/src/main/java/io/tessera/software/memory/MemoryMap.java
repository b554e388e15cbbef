package io.tessera.software.memory;

import java.util.Arrays;

/**
 * Says which addresses kernels may touch: a byte per granule of {@link #GRANULE} bytes for the device's own address
 * range, and a sorted list for registered host memory outside it. Checks may run on any thread at any time; changes are
 * made under the lock of {@link DeviceMemory} and are seen by launches that begin later.
 */
public final class MemoryMap {
    /** Bytes per entry of the map; every allocation starts and ends at a multiple. */
    public static final int GRANULE = 512;
    private static final int GRANULE_SHIFT = 9;

    private final long begin;
    private final long granules;
    /** Address of the map itself: outside the Java heap, so that the untouched part of a large one costs nothing. */
    private final long entries;
    /** Begin and end of each range, by address; replaced, never changed. */
    private volatile long[] hostRanges = {};

    MemoryMap(long begin, long bytes) {
        this.begin = begin;
        this.granules = bytes >>> GRANULE_SHIFT;
        this.entries = HostMapping.map(granules);
    }

    void close() {
        HostMapping.unmap(entries, granules);
    }

    /**
     * What an address belongs to.
     *
     * @param address real address
     */
    public MemoryKind kindOf(long address) {
        long granule = (address - begin) >>> GRANULE_SHIFT;
        if (granule < granules) {
            return MemoryKind.of(RealMemory.getByte(entries + granule));
        }
        return inHostRange(address, 1) ? MemoryKind.GLOBAL : MemoryKind.NONE;
    }

    /**
     * Whether a kernel may access bytes that lie in one granule, as any aligned access does.
     *
     * @param address real address
     * @param bytes   1 to 32
     */
    public boolean allows(long address, int bytes) {
        long granule = (address - begin) >>> GRANULE_SHIFT;
        if (granule < granules) {
            return RealMemory.getByte(entries + granule) != 0;
        }
        return inHostRange(address, bytes);
    }

    /**
     * Checks an access by a generic, global or constant address.
     *
     * @param address real address
     * @param bytes   size of the access, a power of two up to 32; the address must be a multiple
     * @throws MemoryFault if the address is misaligned or belongs to nothing
     */
    public void check(long address, int bytes) {
        if ((address & bytes - 1) != 0) {
            throw new MemoryFault(true, address, bytes + "-byte access");
        }
        if (!allows(address, bytes)) {
            throw new MemoryFault(false, address, bytes + "-byte access");
        }
    }

    /** Whether every byte of a range may be accessed. */
    public boolean allowsRange(long address, long bytes) {
        if (bytes == 0) {
            return true;
        }
        if (address - begin >>> GRANULE_SHIFT >= granules) {
            return inHostRange(address, bytes);
        }
        long last = address + bytes - 1 - begin >>> GRANULE_SHIFT;
        if (last >= granules) {
            return false;
        }
        for (long granule = address - begin >>> GRANULE_SHIFT; granule <= last; granule++) {
            if (RealMemory.getByte(entries + granule) == 0) {
                return false;
            }
        }
        return true;
    }

    private boolean inHostRange(long address, long bytes) {
        long[] ranges = hostRanges;
        int low = 0;
        int high = ranges.length / 2 - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            if (Long.compareUnsigned(address, ranges[2 * middle]) < 0) {
                high = middle - 1;
            } else if (Long.compareUnsigned(address, ranges[2 * middle + 1]) >= 0) {
                low = middle + 1;
            } else {
                return bytes <= ranges[2 * middle + 1] - address;
            }
        }
        return false;
    }

    /** Sets the entries of a range of whole granules. */
    void set(long address, long bytes, MemoryKind kind) {
        RealMemory.fill(entries + (address - begin >>> GRANULE_SHIFT), bytes >>> GRANULE_SHIFT,
                (byte) kind.ordinal());
    }

    /** Adds a range outside the device's own. The caller holds the lock and has checked that none overlaps. */
    void addHostRange(long address, long bytes) {
        long[] old = hostRanges;
        int place = 0;
        while (place < old.length && Long.compareUnsigned(old[place], address) < 0) {
            place += 2;
        }
        long[] next = new long[old.length + 2];
        System.arraycopy(old, 0, next, 0, place);
        next[place] = address;
        next[place + 1] = address + bytes;
        System.arraycopy(old, place, next, place + 2, old.length - place);
        hostRanges = next;
    }

    /** Removes a range by its begin; false where there is none. The caller holds the lock. */
    boolean removeHostRange(long address) {
        long[] old = hostRanges;
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] == address) {
                long[] next = Arrays.copyOf(old, old.length - 2);
                System.arraycopy(old, i + 2, next, i, old.length - i - 2);
                hostRanges = next;
                return true;
            }
        }
        return false;
    }

    /** Whether a range shares a byte with a registered one or with the device's own range. */
    boolean overlaps(long address, long bytes) {
        long[] ranges = hostRanges;
        for (int i = 0; i < ranges.length; i += 2) {
            if (address < ranges[i + 1] && ranges[i] < address + bytes) {
                return true;
            }
        }
        return address < begin + (granules << GRANULE_SHIFT) && begin < address + bytes;
    }
}
