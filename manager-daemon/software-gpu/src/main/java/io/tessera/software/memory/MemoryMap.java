package io.tessera.software.memory;

import java.util.Arrays;

/**
 * Tells which addresses kernels may access: a byte per granule of {@link #GRANULE} bytes for the device's own address range, a byte per {@link #FAR_GRANULE}
 * for the far range, where programs place windows much larger than the memory, and a sorted list for registered host memory outside the device's own range.
 * Checks may run on any thread at any time; changes are made under the lock of {@link DeviceMemory} and are seen by launches that begin later.
 */
public final class MemoryMap {
    /** Bytes per entry of the map; every allocation starts and ends at a multiple. */
    public static final int GRANULE = 512;
    private static final int GRANULE_SHIFT = 9;

    /** First address of the far range. Nothing that the system chooses by itself lies there. */
    static final long FAR_BEGIN = 0x2000_0000_0000L;
    /** First address behind the far range. */
    static final long FAR_END = 0x4000_0000_0000L;
    /** Bytes per entry of the far range; every mapping there starts and ends at a multiple. */
    public static final long FAR_GRANULE = 2L << 20;
    private static final int FAR_SHIFT = 21;
    private static final long FAR_GRANULES = FAR_END - FAR_BEGIN >>> FAR_SHIFT;

    /** Entry of the far range where a sink is: no {@link AddressKind} has this number. */
    private static final byte SINK = 0x7f;

    private final long begin;
    private final long granules;
    /** Address of the map itself: outside the Java heap, so that the untouched part of a large one costs nothing. */
    private final long entries;
    private final long farEntries;
    /** Begin and end of each range, by address; replaced, never changed. */
    private volatile long[] hostRanges = {};
    /** Begin, end, and place of the memory that repeats there, of each sink's mapping, by address; replaced, never changed. */
    private volatile long[] sinkRanges = {};

    MemoryMap(long begin, long bytes) {
        this.begin = begin;
        this.granules = bytes >>> GRANULE_SHIFT;
        this.entries = HostMapping.map(granules);
        this.farEntries = HostMapping.map(FAR_GRANULES);
    }

    void close() {
        HostMapping.unmap(entries, granules);
        HostMapping.unmap(farEntries, FAR_GRANULES);
    }

    /**
     * Returns the kind of memory at an address.
     *
     * @param address real address
     */
    public AddressKind kindOf(long address) {
        long granule = (address - begin) >>> GRANULE_SHIFT;
        if (granule < granules) {
            return AddressKind.of(RealMemory.getByte(entries + granule));
        }
        return isFar(address) || inHostRange(address, 1) ? AddressKind.GLOBAL : AddressKind.NONE;
    }

    /**
     * Returns whether a kernel may access bytes that lie in one granule, as any aligned access does.
     *
     * @param address real address
     * @param bytes   1 to 32
     */
    public boolean allows(long address, int bytes) {
        long granule = (address - begin) >>> GRANULE_SHIFT;
        if (granule < granules) {
            return RealMemory.getByte(entries + granule) != 0;
        }
        return isFar(address) || inHostRange(address, bytes);
    }

    /** Returns whether something is mapped at an address of the far range, for all of its granule. */
    private boolean isFar(long address) {
        return farEntry(address) != 0;
    }

    private byte farEntry(long address) {
        long granule = address - FAR_BEGIN >>> FAR_SHIFT;
        return granule < FAR_GRANULES && granule >= 0 ? RealMemory.getByte(farEntries + granule) : 0;
    }

    /**
     * Checks an access by a generic, global or constant address.
     *
     * @param address real address
     * @param bytes   size of the access, a power of two up to 32; the address must be a multiple
     * @return address of the memory: the address itself, or another one where a sink is mapped
     * @throws MemoryFault if the address is misaligned or has no memory
     */
    public long checked(long address, int bytes) {
        if ((address & bytes - 1) != 0) {
            throw new MemoryFault(true, address, bytes + "-byte access");
        }
        long granule = (address - begin) >>> GRANULE_SHIFT;
        if (granule < granules) {
            if (RealMemory.getByte(entries + granule) != 0) {
                return address;
            }
        } else {
            byte far = farEntry(address);
            if (far == SINK) {
                return inSink(address, bytes);
            }
            if (far != 0 || inHostRange(address, bytes)) {
                return address;
            }
        }
        throw new MemoryFault(false, address, bytes + "-byte access");
    }

    private long inSink(long address, int bytes) {
        long[] sinks = sinkRanges;
        int low = 0;
        int high = sinks.length / 3 - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            if (address < sinks[3 * middle]) {
                high = middle - 1;
            } else if (address >= sinks[3 * middle + 1]) {
                low = middle + 1;
            } else {
                return sinks[3 * middle + 2] + (address & FAR_GRANULE - 1);
            }
        }
        throw new MemoryFault(false, address, bytes + "-byte access"); // it was unmapped a moment ago
    }

    /** Lets kernels access a sink in a range of the far range, which is not one yet. The caller holds the lock. */
    void addSink(long address, long bytes, long place) {
        long[] old = sinkRanges;
        int index = 0;
        while (index < old.length && old[index] < address) {
            index += 3;
        }
        long[] next = new long[old.length + 3];
        System.arraycopy(old, 0, next, 0, index);
        next[index] = address;
        next[index + 1] = address + bytes;
        next[index + 2] = place;
        System.arraycopy(old, index, next, index + 3, old.length - index);
        sinkRanges = next;
        RealMemory.fill(farEntries + (address - FAR_BEGIN >>> FAR_SHIFT), bytes >>> FAR_SHIFT, SINK);
    }

    /** Takes a sink away that begins at an address, if one does. The caller holds the lock. */
    void removeSink(long address) {
        long[] old = sinkRanges;
        for (int i = 0; i < old.length; i += 3) {
            if (old[i] == address) {
                RealMemory.fill(farEntries + (address - FAR_BEGIN >>> FAR_SHIFT), old[i + 1] - address >>> FAR_SHIFT, (byte) 0);
                long[] next = Arrays.copyOf(old, old.length - 3);
                System.arraycopy(old, i + 3, next, i, old.length - i - 3);
                sinkRanges = next;
                return;
            }
        }
    }

    /** Returns whether every byte of a range may be accessed. */
    public boolean allowsRange(long address, long bytes) {
        if (bytes == 0) {
            return true;
        }
        if (address - begin >>> GRANULE_SHIFT >= granules) {
            return isFarRange(address, bytes) || inHostRange(address, bytes);
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

    private boolean isFarRange(long address, long bytes) {
        if (bytes < 0 || bytes > FAR_END - FAR_BEGIN) {
            return false;
        }
        for (long at = address & -FAR_GRANULE; at < address + bytes; at += FAR_GRANULE) {
            if (!isFar(at)) {
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

    /** Returns whether a range lies in the far range. */
    static boolean inFar(long address, long bytes) {
        return address >= FAR_BEGIN && bytes >= 0 && bytes <= FAR_END - address;
    }

    /** Sets the entries of a range of whole granules. */
    void set(long address, long bytes, AddressKind kind) {
        if (inFar(address, bytes)) {
            RealMemory.fill(farEntries + (address - FAR_BEGIN >>> FAR_SHIFT), bytes >>> FAR_SHIFT,
                    (byte) kind.ordinal());
            return;
        }
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

    /** Returns whether a range shares a byte with a registered one or with the device's own range. */
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
