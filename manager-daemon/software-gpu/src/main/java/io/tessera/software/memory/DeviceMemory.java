package io.tessera.software.memory;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Memory of one software GPU: allocations, registered host memory, and address ranges with separately created memory
 * (as cuMemAddressReserve, cuMemCreate and cuMemMap have them). The sum of allocations and created memory stays within
 * the capacity. Thread-safe. The caller makes sure that no kernel is using what it frees, unmaps or unregisters.
 */
public final class DeviceMemory implements AutoCloseable {
    /** Granularity of reserved ranges and created memory in bytes, as the NVIDIA driver reports it. */
    public static final long PHYSICAL_GRANULARITY = 2L << 20;
    /** Freed pieces of at least this many bytes give their pages back to the host at once. */
    private static final long DISCARD_BYTES = 64 << 10;
    /** Address space is plentiful: windows and reservations are many times larger than the memory. */
    private static final long SPAN_AT_LEAST = 64L << 30;
    private static final long SPAN_PER_CAPACITY = 8;

    /**
     * Created memory.
     *
     * @param fd    its file; -1: a sink, or what is released and cannot be mapped again
     * @param place of a sink: where its memory lies; else 0
     */
    private record Physical(int fd, long bytes, long place, int mappings, boolean released) {
        Physical with(int newMappings, boolean nowReleased) {
            return new Physical(fd, bytes, place, newMappings, nowReleased);
        }

        boolean isSink() {
            return place != 0;
        }
    }

    private record Mapping(long bytes, long handle) {
    }

    /** Bound on released handles that {@link #retainPhysical} takes back: each keeps a descriptor, of which the process may have few. */
    static final int MOST_FILES_OF_RELEASED = 256;

    private final long capacityBytes;
    private final long begin;
    private final long span;
    private final AddressRanges ranges;
    /** Addresses of shared, local and parameter windows: apart, so that a stray pointer to freed memory hits none. */
    private final AddressRanges windows;
    private final long windowsBegin;
    private final MemoryMap map;
    private final Map<Long, Long> requested = new HashMap<>();
    private final TreeMap<Long, Long> reservations = new TreeMap<>();
    private final TreeMap<Long, Mapping> mappings = new TreeMap<>();
    private final Map<Long, Physical> physicals = new HashMap<>();
    private final Set<Long> filesOfReleased = new HashSet<>();
    private final TreeMap<Long, Long> hostRanges = new TreeMap<>();
    private long nextHandle = 1;
    private long usedBytes;

    /**
     * Reserves the address range; memory is taken from the host when it is first touched.
     *
     * @param capacityBytes limit for allocations and created memory together
     * @throws HostMemoryException if the host has no address space left
     */
    public DeviceMemory(long capacityBytes) {
        this.capacityBytes = capacityBytes;
        this.span = Math.max(SPAN_AT_LEAST, SPAN_PER_CAPACITY * capacityBytes + PHYSICAL_GRANULARITY - 1
                & -PHYSICAL_GRANULARITY);
        long mapped = HostMapping.reserve(span + PHYSICAL_GRANULARITY);
        this.begin = mapped + PHYSICAL_GRANULARITY - 1 & -PHYSICAL_GRANULARITY;
        if (begin > mapped) {
            HostMapping.unmap(mapped, begin - mapped);
        }
        HostMapping.unmap(begin + span, mapped + PHYSICAL_GRANULARITY - begin);
        HostMapping.mapPrivate(begin, span);
        this.windowsBegin = begin + span / 2;
        this.ranges = new AddressRanges(begin, span / 2);
        this.windows = new AddressRanges(windowsBegin, span / 2);
        this.map = new MemoryMap(begin, span);
    }

    /** Gives everything back; no kernel may be running. */
    @Override
    public synchronized void close() {
        physicals.values().forEach(DeviceMemory::giveBack);
        physicals.clear();
        reservations.forEach((address, bytes) -> {
            if (MemoryMap.inFar(address, bytes)) {
                HostMapping.unmap(address, bytes);
            }
        });
        reservations.clear();
        HostMapping.unmap(begin, span);
        map.close();
    }

    /** Returns the map of memory that kernels may access. */
    public MemoryMap map() {
        return map;
    }

    /** Limit for allocations and created memory together, in bytes. */
    public long capacityBytes() {
        return capacityBytes;
    }

    /** Bytes that are left. */
    public synchronized long freeBytes() {
        return capacityBytes - usedBytes;
    }

    private static long granules(long bytes) {
        return Math.max(bytes, 1) + MemoryMap.GRANULE - 1 & -MemoryMap.GRANULE;
    }

    /**
     * Allocates device memory, aligned to at least 512 bytes. It is zero: what others had there was erased.
     *
     * @throws OutOfDeviceMemoryException if too little is left
     */
    public long allocate(long bytes) {
        return allocate(bytes, MemoryMap.GRANULE, AddressKind.GLOBAL);
    }

    /**
     * Allocates memory of a kind. Global and constant memory counts against the capacity; windows of running kernels
     * do not.
     *
     * @param bytes size, at least 1
     * @param align a power of two; at least 512 is used
     * @param kind  what isspacep finds there
     * @throws OutOfDeviceMemoryException if too little is left
     */
    public synchronized long allocate(long bytes, long align, AddressKind kind) {
        long rounded = granules(bytes);
        boolean counted = kind == AddressKind.GLOBAL || kind == AddressKind.CONST;
        if (bytes < 0 || counted && rounded > capacityBytes - usedBytes) {
            throw new OutOfDeviceMemoryException(bytes, capacityBytes - usedBytes, capacityBytes);
        }
        long address = (counted ? ranges : windows).take(rounded, Math.max(align, MemoryMap.GRANULE));
        if (address == 0) {
            throw new OutOfDeviceMemoryException(bytes, capacityBytes - usedBytes, capacityBytes);
        }
        if (counted) {
            usedBytes += rounded;
        }
        requested.put(address, bytes);
        map.set(address, rounded, kind);
        return address;
    }

    /**
     * Allocates windows of running blocks in one piece: shared memory, then local memory. They do not count against
     * the capacity.
     *
     * @param sharedBytes multiple of 1024
     * @param localBytes  multiple of 1024
     * @return address of the shared part; {@link #free} frees both
     * @throws OutOfDeviceMemoryException if no addresses are left
     */
    public synchronized long allocateWindows(long sharedBytes, long localBytes) {
        long address = allocate(sharedBytes + localBytes, 1024, AddressKind.LOCAL);
        map.set(address, sharedBytes, AddressKind.SHARED);
        return address;
    }

    /**
     * Frees what {@link #allocate} gave.
     *
     * @return false if no allocation begins at the address
     */
    public synchronized boolean free(long address) {
        if (requested.remove(address) == null) {
            return false;
        }
        boolean counted = address < windowsBegin;
        long bytes = (counted ? ranges : windows).give(address);
        map.set(address, bytes, AddressKind.NONE);
        if (counted) {
            usedBytes -= bytes;
        }
        long firstPage = address + 4095 & -4096;
        long lastPage = address + bytes & -4096;
        if (lastPage - firstPage >= DISCARD_BYTES) {
            HostMapping.discard(firstPage, lastPage - firstPage);
            RealMemory.fill(address, firstPage - address, (byte) 0);
            RealMemory.fill(lastPage, address + bytes - lastPage, (byte) 0);
        } else {
            RealMemory.fill(address, bytes, (byte) 0);
        }
        return true;
    }

    /** Returns the allocation, mapping or registered range that holds an address. */
    public synchronized Optional<MemoryBlock> find(long address) {
        Map.Entry<Long, Long> host = hostRanges.floorEntry(address);
        if (host != null && address < host.getKey() + host.getValue()) {
            return Optional.of(new MemoryBlock(host.getKey(), host.getValue()));
        }
        Map.Entry<Long, Mapping> mapping = mappings.floorEntry(address);
        if (mapping != null && address < mapping.getKey() + mapping.getValue().bytes()) {
            return Optional.of(new MemoryBlock(mapping.getKey(), mapping.getValue().bytes()));
        }
        Map.Entry<Long, Long> piece = ranges.find(address);
        Long bytes = piece == null ? null : requested.get(piece.getKey());
        return bytes == null ? Optional.empty() : Optional.of(new MemoryBlock(piece.getKey(), bytes));
    }

    /**
     * Memory as a segment, for copies by the host.
     *
     * @throws MemoryFault if some byte of it is not the device's
     */
    public MemorySegment at(long address, long bytes) {
        if (bytes < 0 || !map.allowsRange(address, bytes)) {
            throw new MemoryFault(false, address, bytes + "-byte range");
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /**
     * Lets kernels access host memory that is mapped in this process.
     *
     * @throws IllegalArgumentException if it overlaps what is registered or the device's own range
     */
    public synchronized void registerHost(long address, long bytes) {
        if (bytes <= 0 || map.overlaps(address, bytes)) {
            throw new IllegalArgumentException("host range 0x" + Long.toHexString(address) + ", " + bytes
                    + " bytes, is empty or overlaps another");
        }
        hostRanges.put(address, bytes);
        map.addHostRange(address, bytes);
    }

    /**
     * Takes access to a registered range away.
     *
     * @return false if none begins there
     */
    public synchronized boolean unregisterHost(long address) {
        hostRanges.remove(address);
        return map.removeHostRange(address);
    }

    /**
     * Reserves addresses without memory.
     *
     * @param bytes multiple of {@link #PHYSICAL_GRANULARITY}
     * @param align a power of two, or 0
     * @param hint  wanted address, or 0; taken if it is free: one of the device's own range, or of the far one
     * @throws OutOfDeviceMemoryException if no such range is free
     */
    public synchronized long reserve(long bytes, long align, long hint) {
        requireGranular(bytes);
        if (MemoryMap.inFar(hint, bytes) && hint % PHYSICAL_GRANULARITY == 0 && HostMapping.mapAt(hint, bytes)) {
            reservations.put(hint, bytes);
            return hint;
        }
        long address = hint;
        boolean hinted = hint >= begin && hint + bytes <= windowsBegin && hint % PHYSICAL_GRANULARITY == 0
                && ranges.takeAt(hint, bytes);
        if (!hinted) {
            address = ranges.take(bytes, Math.max(align, PHYSICAL_GRANULARITY));
        }
        if (address == 0) {
            throw new OutOfDeviceMemoryException(bytes, capacityBytes - usedBytes, capacityBytes);
        }
        reservations.put(address, bytes);
        return address;
    }

    private static void requireGranular(long bytes) {
        if (bytes <= 0 || bytes % PHYSICAL_GRANULARITY != 0) {
            throw new IllegalArgumentException(bytes + " bytes: not a multiple of " + PHYSICAL_GRANULARITY);
        }
    }

    /**
     * Gives reserved addresses back.
     *
     * @return false if no such reservation exists or memory is still mapped there
     */
    public synchronized boolean releaseReservation(long address, long bytes) {
        Long reserved = reservations.get(address);
        Map.Entry<Long, Mapping> below = mappings.lowerEntry(address + bytes);
        if (reserved == null || reserved != bytes || below != null && below.getKey() >= address) {
            return false;
        }
        reservations.remove(address);
        if (MemoryMap.inFar(address, bytes)) {
            HostMapping.unmap(address, bytes);
        } else {
            ranges.give(address);
        }
        return true;
    }

    /**
     * Creates memory without an address.
     *
     * @param bytes multiple of {@link #PHYSICAL_GRANULARITY}
     * @return its handle
     * @throws OutOfDeviceMemoryException if too little is left
     */
    public synchronized long createPhysical(long bytes) {
        requireGranular(bytes);
        if (bytes > capacityBytes - usedBytes) {
            throw new OutOfDeviceMemoryException(bytes, capacityBytes - usedBytes, capacityBytes);
        }
        long handle = nextHandle++;
        physicals.put(handle, new Physical(HostMapping.memoryFile(bytes), bytes, 0, 0, false));
        usedBytes += bytes;
        return handle;
    }

    /**
     * Creates a sink: {@link #PHYSICAL_GRANULARITY} bytes that repeat behind all of a mapping of any size in the far range, for
     * kernels alone. Not counted against the capacity.
     *
     * @return its handle
     */
    public synchronized long createSink() {
        long handle = nextHandle++;
        physicals.put(handle, new Physical(-1, PHYSICAL_GRANULARITY, HostMapping.map(PHYSICAL_GRANULARITY), 0, false));
        return handle;
    }

    /** Returns whether a handle is a sink's. */
    public synchronized boolean isSink(long handle) {
        Physical physical = physicals.get(handle);
        return physical != null && physical.isSink();
    }

    private static void giveBack(Physical physical) {
        if (physical.fd() >= 0) {
            HostMapping.close(physical.fd());
        }
        if (physical.isSink()) {
            HostMapping.unmap(physical.place(), physical.bytes());
        }
    }

    /**
     * Releases a handle; its memory is freed with its last mapping.
     *
     * @return false if there is no such handle
     */
    public synchronized boolean releasePhysical(long handle) {
        Physical physical = physicals.get(handle);
        if (physical == null || physical.released()) {
            return false;
        }
        keep(handle, physical.with(physical.mappings(), true));
        return true;
    }

    /**
     * Takes back the release of a handle whose memory is still mapped.
     *
     * @return false if it cannot be mapped again, because its descriptor was closed
     */
    public synchronized boolean retainPhysical(long handle) {
        Physical physical = physicals.get(handle);
        if (physical.fd() < 0 && !physical.isSink()) {
            return false;
        }
        keep(handle, physical.with(physical.mappings(), false));
        return true;
    }

    private void keep(long handle, Physical physical) {
        filesOfReleased.remove(handle);
        if (!physical.released()) {
            physicals.put(handle, physical);
        } else if (physical.mappings() == 0) {
            usedBytes -= physical.isSink() ? 0 : physical.bytes();
            giveBack(physical);
            physicals.remove(handle);
        } else if (physical.fd() < 0) {
            physicals.put(handle, physical);
        } else if (filesOfReleased.size() < MOST_FILES_OF_RELEASED) {
            filesOfReleased.add(handle);
            physicals.put(handle, physical);
        } else {
            HostMapping.close(physical.fd());
            physicals.put(handle, new Physical(-1, physical.bytes(), 0, physical.mappings(), true));
        }
    }

    /**
     * Maps created memory into a reserved range, without access until {@link #setAccess}.
     *
     * @throws IllegalArgumentException if the range is not reserved or not free, or the handle or offset is wrong
     */
    public synchronized void map(long address, long bytes, long offset, long handle) {
        requireGranular(bytes);
        Physical physical = physicals.get(handle);
        Map.Entry<Long, Long> reservation = reservations.floorEntry(address);
        Map.Entry<Long, Mapping> below = mappings.lowerEntry(address + bytes);
        boolean reserved = reservation != null && address + bytes <= reservation.getKey() + reservation.getValue();
        boolean taken = below != null && below.getKey() + below.getValue().bytes() > address;
        boolean fits = physical != null && (physical.isSink() ? offset == 0 && MemoryMap.inFar(address, bytes)
                : offset >= 0 && offset + bytes <= physical.bytes());
        if (!fits || physical.released() || !reserved || taken || address % PHYSICAL_GRANULARITY != 0 || offset % PHYSICAL_GRANULARITY != 0) {
            throw new IllegalArgumentException("0x" + Long.toHexString(address) + ", " + bytes
                    + " bytes: not a free part of a reservation, or no such memory");
        }
        if (physical.isSink()) {
            // A copy that comes too late may reach here: it finds pages of no meaning, which go with the next change.
            HostMapping.mapPrivate(address, bytes);
        } else {
            HostMapping.mapFile(address, bytes, physical.fd(), offset);
        }
        mappings.put(address, new Mapping(bytes, handle));
        keep(handle, physical.with(physical.mappings() + 1, false));
    }

    /**
     * Allows or forbids access to whole mappings inside a range.
     *
     * @throws IllegalArgumentException if some of the range is not mapped
     */
    public synchronized void setAccess(long address, long bytes, boolean access) {
        requireMapped(address, bytes);
        for (long at = address; at < address + bytes;) {
            Mapping mapping = mappings.get(at);
            Physical physical = physicals.get(mapping.handle());
            if (physical.isSink()) {
                map.removeSink(at);
                if (access) {
                    map.addSink(at, mapping.bytes(), physical.place());
                }
            } else {
                map.set(at, mapping.bytes(), access ? AddressKind.GLOBAL : AddressKind.NONE);
            }
            at += mapping.bytes();
        }
    }

    private void requireMapped(long address, long bytes) {
        long at = address;
        while (at < address + bytes) {
            Mapping mapping = mappings.get(at);
            if (mapping == null) {
                throw new IllegalArgumentException("nothing is mapped at 0x" + Long.toHexString(at));
            }
            at += mapping.bytes();
        }
        if (at != address + bytes) {
            throw new IllegalArgumentException("the range ends inside a mapping");
        }
    }

    /**
     * Unmaps whole mappings; the addresses stay reserved.
     *
     * @throws IllegalArgumentException if some of the range is not mapped
     */
    public synchronized void unmap(long address, long bytes) {
        requireMapped(address, bytes);
        long at = address;
        while (at < address + bytes) {
            Mapping mapping = mappings.remove(at);
            Physical physical = physicals.get(mapping.handle());
            if (physical.isSink()) {
                map.removeSink(at);
            } else {
                map.set(at, mapping.bytes(), AddressKind.NONE);
                HostMapping.mapPrivate(at, mapping.bytes());
            }
            keep(mapping.handle(), physical.with(physical.mappings() - 1, physical.released()));
            at += mapping.bytes();
        }
    }
}
