package io.tessera.testing.driver;

import io.tessera.device.CudaResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Virtual memory of the fake driver: reserved ranges, memory that can be mapped in many places, and the rules of the real
 * one. Addresses are only numbers. The memory is the process's own and is initially full of a pattern, as if others had used it.
 * Thread-safe.
 */
public final class FakePages implements AutoCloseable {
    /** Granularity of all addresses and sizes. */
    public static final long GRANULE = 2L << 20;
    /** Initial content of each byte of memory. */
    public static final byte OLD_DATA = 0x5A;

    private static final long PAGE = 4096;

    /** Maximum size of all created memory. */
    public volatile long capacityBytes = 1L << 30;
    /** Creations and mappings that succeed before one fails; below 0: all do. */
    public volatile int createsBeforeFailure = -1;
    /** As above. */
    public volatile int mapsBeforeFailure = -1;
    /** As above, of permissions. */
    public volatile int allowsBeforeFailure = -1;
    /** Number of reservations that get another address than requested. */
    public volatile int misplacements;

    private final TreeMap<Long, Long> reserved = new TreeMap<>();
    private final TreeMap<Long, Mapping> mappings = new TreeMap<>();
    private final Map<Long, Memory> handles = new HashMap<>();
    private final List<Memory> all = new ArrayList<>();
    private long next = 0x6000_0000_0000L;
    private long nextHandle = 1;
    private long usedBytes;

    /** Memory of which only written pages are stored; all others are full of one value. */
    private static final class Memory {
        final long size;
        final Map<Long, MemorySegment> pages = new HashMap<>();
        byte elsewhere = OLD_DATA;
        boolean held = true;
        int mapped;

        Memory(long size) {
            this.size = size;
        }

        MemorySegment page(long offset) {
            return pages.computeIfAbsent(offset / PAGE, _ -> MemorySegment.ofArray(new long[(int) PAGE / Long.BYTES])
                    .fill(elsewhere));
        }
    }

    private static final class Mapping {
        final Memory memory;
        boolean allowed;

        Mapping(Memory memory) {
            this.memory = memory;
        }

        long size() {
            return memory.size;
        }
    }

    private static void put(long address, long value) {
        MemorySegment.ofAddress(address).reinterpret(8).set(ValueLayout.JAVA_LONG, 0, value);
    }

    synchronized int reserve(long result, long bytes, long wished) {
        boolean free = wished != 0 && !overlaps(reserved, wished, bytes);
        if (wished != 0 && misplacements > 0) {
            misplacements--;
            free = false;
        }
        long at = free ? wished : next;
        next += free ? 0 : bytes;
        reserved.put(at, bytes);
        put(result, at);
        return 0;
    }

    private static boolean overlaps(TreeMap<Long, Long> ranges, long address, long bytes) {
        Map.Entry<Long, Long> below = ranges.lowerEntry(address + bytes);
        return below != null && below.getKey() + below.getValue() > address;
    }

    /** Returns whether an address is in a reserved range. */
    synchronized boolean isReserved(long address) {
        Map.Entry<Long, Long> below = reserved.floorEntry(address);
        return below != null && address - below.getKey() < below.getValue();
    }

    synchronized int release(long address, long bytes) {
        Map.Entry<Long, Mapping> below = mappings.lowerEntry(address + bytes);
        if (!Long.valueOf(bytes).equals(reserved.get(address)) || below != null && below.getKey() >= address) {
            return CudaResult.INVALID_VALUE;
        }
        reserved.remove(address);
        return 0;
    }

    synchronized int create(long result, long bytes) {
        if (bytes <= 0 || bytes % GRANULE != 0) {
            return CudaResult.INVALID_VALUE;
        }
        if (createsBeforeFailure == 0 || bytes > capacityBytes - usedBytes) {
            return CudaResult.OUT_OF_MEMORY;
        }
        createsBeforeFailure -= createsBeforeFailure > 0 ? 1 : 0;
        Memory memory = new Memory(bytes);
        all.add(memory);
        handles.put(nextHandle, memory);
        usedBytes += bytes;
        put(result, nextHandle++);
        return 0;
    }

    synchronized int drop(long handle) {
        Memory memory = handles.remove(handle);
        if (memory == null) {
            return CudaResult.INVALID_VALUE;
        }
        memory.held = false;
        settle(memory);
        return 0;
    }

    private void settle(Memory memory) {
        if (!memory.held && memory.mapped == 0) {
            usedBytes -= memory.size;
            all.remove(memory);
        }
    }

    synchronized int map(long address, long bytes, long offset, long handle) {
        Memory memory = handles.get(handle);
        Map.Entry<Long, Long> reservation = reserved.floorEntry(address);
        Map.Entry<Long, Mapping> below = mappings.lowerEntry(address + bytes);
        if (memory == null || reservation == null || address % GRANULE != 0
                || address + bytes > reservation.getKey() + reservation.getValue()
                || below != null && below.getKey() + below.getValue().size() > address) {
            return CudaResult.INVALID_VALUE;
        }
        if (offset != 0 || bytes != memory.size) {
            return CudaResult.NOT_SUPPORTED;
        }
        if (mapsBeforeFailure == 0) {
            return CudaResult.OUT_OF_MEMORY;
        }
        mapsBeforeFailure -= mapsBeforeFailure > 0 ? 1 : 0;
        memory.mapped++;
        mappings.put(address, new Mapping(memory));
        return 0;
    }

    synchronized int unmap(long address, long bytes) {
        List<Long> gone = new ArrayList<>();
        for (long at = address; at < address + bytes;) {
            Mapping mapping = mappings.get(at);
            if (mapping == null || at + mapping.size() > address + bytes) {
                return CudaResult.INVALID_VALUE;
            }
            gone.add(at);
            at += mapping.size();
        }
        for (long at : gone) {
            Memory memory = mappings.remove(at).memory;
            memory.mapped--;
            settle(memory);
        }
        return 0;
    }

    synchronized int allow(long address, long bytes) {
        if (allowsBeforeFailure == 0) {
            return CudaResult.OUT_OF_MEMORY;
        }
        allowsBeforeFailure -= allowsBeforeFailure > 0 ? 1 : 0;
        for (long at = address; at < address + bytes;) {
            Mapping mapping = mappings.get(at);
            if (mapping == null) {
                return CudaResult.INVALID_VALUE;
            }
            mapping.allowed = true;
            at += mapping.size();
        }
        return 0;
    }

    /** Returns the memory at an address, to the end of its page; host memory at that address if none is mapped there. */
    private MemorySegment behind(long address, long bytes) {
        Map.Entry<Long, Mapping> entry = mappings.floorEntry(address);
        if (entry == null || address - entry.getKey() >= entry.getValue().size()) {
            return MemorySegment.ofAddress(address).reinterpret(bytes);
        }
        long offset = address - entry.getKey();
        return entry.getValue().memory.page(offset).asSlice(offset % PAGE, Math.min(bytes, PAGE - offset % PAGE));
    }

    synchronized void fill(long address, long bytes, byte value) {
        Mapping mapping = mappings.get(address);
        if (mapping != null && mapping.size() == bytes) {
            mapping.memory.pages.clear();
            mapping.memory.elsewhere = value;
            return;
        }
        for (long at = 0; at < bytes;) {
            MemorySegment piece = behind(address + at, bytes - at);
            piece.fill(value);
            at += piece.byteSize();
        }
    }

    synchronized void copy(long to, long from, long bytes) {
        for (long at = 0; at < bytes;) {
            MemorySegment source = behind(from + at, bytes - at);
            MemorySegment target = behind(to + at, source.byteSize());
            target.copyFrom(source.asSlice(0, target.byteSize())); // a page at a time
            at += target.byteSize();
        }
    }

    /** Writes eight bytes of device memory, as a kernel would. */
    public synchronized void putLong(long address, long value) {
        behind(address, 8).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
    }

    /** Returns eight bytes of device memory. */
    public synchronized long getLong(long address) {
        return behind(address, 8).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    /** Returns whether the device may access memory at an address. */
    public synchronized boolean isAllowed(long address) {
        Map.Entry<Long, Mapping> entry = mappings.floorEntry(address);
        return entry != null && address - entry.getKey() < entry.getValue().size() && entry.getValue().allowed;
    }

    /** Returns the size of memory that has not been created. */
    public synchronized long freeBytes() {
        return capacityBytes - usedBytes;
    }

    /** Describes what has not been released: memory, handles, reservations. */
    public synchronized String left() {
        return all.size() + " memories, " + handles.size() + " handles, " + mappings.size() + " mappings, "
                + reserved.size() + " reservations";
    }

    @Override
    public synchronized void close() {
        all.clear();
    }
}
