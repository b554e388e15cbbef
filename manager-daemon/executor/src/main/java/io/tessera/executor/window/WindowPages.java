package io.tessera.executor.window;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/**
 * The mappings in the addresses of one window and its guards: memory of the tenant, memory that its programs made and mapped themselves, and, once
 * {@link #back} was called, the tenant's sink everywhere else. The sink is a piece of memory of one slot's size that is mapped again and again, and another one
 * of a granule's size for gaps that are smaller than a slot.
 *
 * <p>If the driver refuses a step of a change, the change leaves everything as it was and returns that CUresult. Handles are released as soon as their memory
 * is mapped, so that unmapping gives the memory back; only those of the sinks are kept. Not thread-safe: guarded by the window's lock. A caller that changes
 * pages of a backed window has brought the tenant to rest.
 */
final class WindowPages {
    private final DriverPages driverPages;
    private final FreshMemory fresh;
    private final long slotBytes;
    private final long granuleBytes;
    /** Whether the driver's sinks repeat: then one mapping fills a gap of any size with the memory of a single granule. */
    private final boolean repeats;
    /** Address ranges that are reserved for the window, by first address. */
    private final TreeMap<Long, Long> reserved = new TreeMap<>();
    private final TreeMap<Long, Piece> pieces = new TreeMap<>();
    private long slotSink;
    private long granuleSink;
    private volatile boolean backed;
    /** Whether a part of a backed window may have no memory. */
    private volatile boolean broken;
    private long realBytes;
    private long awayBytes;
    private volatile long reached;
    /** Receives the address of each piece of the window's memory that is given up. */
    private LongConsumer givenUp = _ -> {};

    /** Kind of a mapping. */
    private enum Kind {
        /** The tenant's sink: may be replaced at any time. */
        SINK,
        /** Memory of the window. */
        REAL,
        /** Memory that a program made. */
        PROGRAM,
        /** Host memory, which its owner maps and registers. */
        HOST,
        /** Memory of the window that is not on the device: nothing is mapped. */
        AWAY
    }

    private record Piece(long address, long bytes, Kind kind) {
        long end() {
            return address + bytes;
        }
    }

    /** Creates an instance without reserved addresses. */
    WindowPages(DriverPages driverPages, FreshMemory fresh, long slotBytes, long granuleBytes, boolean repeats) {
        this.repeats = repeats;
        this.driverPages = driverPages;
        this.fresh = fresh;
        this.slotBytes = slotBytes;
        this.granuleBytes = granuleBytes;
    }

    /**
     * Reserves addresses for the window.
     *
     * @return CUresult; NOT_SUPPORTED: the driver has given another place, and it was given back
     */
    int reserve(DriverCalls driver, long address, long bytes) {
        int result = driverPages.reserve(driver, bytes, 0, address);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long given = driver.outLong(0);
        if (given != address) {
            driverPages.release(driver, given, bytes);
            return CudaResult.NOT_SUPPORTED;
        }
        reserved.put(address, bytes);
        return CudaResult.SUCCESS;
    }

    /** Makes the sinks ahead of their use, because other clients may have taken all memory by then. Returns a CUresult. */
    int prepare(DriverCalls driver) {
        return sinks(driver);
    }

    /** Returns whether every reserved address leads to memory. */
    boolean isBacked() {
        return backed;
    }

    /** Returns the first address behind all memory that was ever placed; any thread. */
    long reachedAddress() {
        return reached;
    }

    /** Returns the window's memory on the device, without sink and programs' own. */
    long realBytes() {
        return realBytes;
    }

    /** Returns the window's memory that is not on the device. */
    long awayBytes() {
        return awayBytes;
    }

    /** Sets the listener that hears where memory of the window is given up. */
    void givenUp(LongConsumer hearing) {
        givenUp = hearing;
    }

    /** Returns the physical memory of the sinks. */
    long sinkBytes() {
        return (slotSink == 0 ? 0 : slotBytes) + (granuleSink == 0 || granuleSink == slotSink ? 0 : granuleBytes);
    }

    /** Prepares checks of the sinks that {@link #prepare} has made. */
    void prepare(DriverCalls driver, SinkChecks checks) {
        if (repeats) {
            checks.prepare(driver, new long[0], new long[0]);
        } else if (slotSink == granuleSink) {
            checks.prepare(driver, new long[] {slotSink}, new long[] {slotBytes});
        } else {
            checks.prepare(driver, new long[] {slotSink, granuleSink}, new long[] {slotBytes, granuleBytes});
        }
    }

    /** Called when the window is backed: if the driver's sinks repeat, checks begin now. */
    void arm(DriverCalls driver, SinkChecks checks) {
        if (repeats) {
            checks.arm(driver, reserved.firstKey(), granuleBytes); // the sink is behind all of the lower guard
        }
    }

    /** Returns the current number of mappings. */
    int mappings() {
        return pieces.size();
    }

    /** Returns whether a part of a backed window may be unmapped, because the driver refused the sink there. */
    boolean isBroken() {
        return broken;
    }

    /** Maps the sink wherever nothing is mapped. If the driver refuses, a window that was not backed before is not backed. */
    int back(DriverCalls driver) {
        boolean was = backed;
        int result = sinks(driver);
        backed = result == CudaResult.SUCCESS;
        for (Map.Entry<Long, Long> range : List.copyOf(reserved.entrySet())) {
            if (result == CudaResult.SUCCESS) {
                result = fill(driver, range.getKey(), range.getKey() + range.getValue());
            }
        }
        backed = was || result == CudaResult.SUCCESS;
        broken = backed && result != CudaResult.SUCCESS;
        return result;
    }

    private int sinks(DriverCalls driver) {
        if (repeats && granuleSink == 0) {
            int result = driverPages.createSink(driver, granuleBytes);
            granuleSink = result == CudaResult.SUCCESS ? driver.outLong(0) : 0;
            return result;
        }
        if (repeats) {
            return CudaResult.SUCCESS;
        }
        int result = CudaResult.SUCCESS;
        if (slotSink == 0) {
            result = sink(driver, slotBytes, handle -> slotSink = handle);
        }
        if (granuleSink == 0 && slotBytes == granuleBytes) {
            granuleSink = slotSink;
        }
        if (granuleSink == 0 && result == CudaResult.SUCCESS) {
            result = sink(driver, granuleBytes, handle -> granuleSink = handle);
        }
        return result;
    }

    /** Makes memory for a sink and clears it, because the tenant can read it and must not see a former owner's contents. */
    private int sink(DriverCalls driver, long bytes, LongConsumer made) {
        int result = driverPages.create(driver, bytes);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long handle = driver.outLong(0);
        if (!fresh.zero(driver, handle, bytes)) {
            driverPages.drop(driver, handle);
            return CudaResult.OUT_OF_MEMORY;
        }
        made.accept(handle);
        return CudaResult.SUCCESS;
    }

    /** Maps the sink over the gaps of a range. Does nothing while the window is not backed. */
    int fill(DriverCalls driver, long from, long to) {
        long at = from;
        while (backed && at < to) {
            Map.Entry<Long, Piece> here = pieces.floorEntry(at);
            if (here != null && here.getValue().end() > at) {
                at = here.getValue().end();
                continue;
            }
            Long next = pieces.ceilingKey(at);
            long end = next == null ? to : Math.min(to, next);
            int result = gap(driver, at, end);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            at = end;
        }
        return CudaResult.SUCCESS;
    }

    private int gap(DriverCalls driver, long from, long to) {
        long at = from;
        int result = CudaResult.SUCCESS;
        while (at < to && result == CudaResult.SUCCESS) {
            boolean whole = !repeats && at % slotBytes == 0 && slotBytes <= to - at;
            long bytes = repeats ? to - at : whole ? slotBytes : granuleBytes;
            result = driverPages.map(driver, at, bytes, whole ? slotSink : granuleSink);
            if (result == CudaResult.SUCCESS) {
                pieces.put(at, new Piece(at, bytes, Kind.SINK));
                at += bytes;
            }
        }
        if (result == CudaResult.SUCCESS) {
            result = driverPages.allow(driver, from, to - from);
        }
        if (result != CudaResult.SUCCESS) {
            broken = true;
            unmapAll(driver, from, at);
        }
        return result;
    }

    private void unmapAll(DriverCalls driver, long from, long to) {
        for (Piece piece : List.copyOf(pieces.subMap(from, to).values())) {
            if (driverPages.unmap(driver, piece.address, piece.bytes) == CudaResult.SUCCESS) {
                pieces.remove(piece.address);
            }
        }
    }

    /**
     * Unmaps the sink from a range. Where a mapping extended beyond the range, the sink is mapped again outside it.
     *
     * @return CUresult; INVALID_VALUE: something other than the sink is mapped there
     */
    private int clear(DriverCalls driver, long from, long bytes) {
        long to = from + bytes;
        List<Piece> there = overlapping(from, to);
        if (there.stream().anyMatch(piece -> piece.kind != Kind.SINK)) {
            return CudaResult.INVALID_VALUE;
        }
        if (there.isEmpty()) {
            return CudaResult.SUCCESS;
        }
        long begin = there.getFirst().address;
        long end = there.getLast().end();
        for (Piece piece : there) {
            int result = driverPages.unmap(driver, piece.address, piece.bytes);
            if (result != CudaResult.SUCCESS) {
                fill(driver, begin, end);
                return result;
            }
            pieces.remove(piece.address);
        }
        int result = begin < from ? fill(driver, begin, from) : CudaResult.SUCCESS;
        return result == CudaResult.SUCCESS && end > to ? fill(driver, to, end) : result;
    }

    private List<Piece> overlapping(long from, long to) {
        List<Piece> found = new ArrayList<>();
        Map.Entry<Long, Piece> below = pieces.lowerEntry(from);
        if (below != null && below.getValue().end() > from) {
            found.add(below.getValue());
        }
        found.addAll(pieces.subMap(from, to).values());
        return found;
    }

    /**
     * Maps memory of the window, which takes over the handles whatever the result is.
     *
     * @param handles of equal sizes, together as large as the range
     */
    int place(DriverCalls driver, long address, long bytes, long[] handles) {
        int result = put(driver, address, bytes, handles, Kind.REAL);
        for (long handle : handles) {
            driverPages.drop(driver, handle);
        }
        if (result == CudaResult.SUCCESS) {
            realBytes += bytes;
        }
        return result;
    }

    /** Maps memory that a program made; the handle stays the program's. */
    int placeOfProgram(DriverCalls driver, long address, long bytes, long handle) {
        return put(driver, address, bytes, new long[] {handle}, Kind.PROGRAM);
    }

    private int put(DriverCalls driver, long address, long bytes, long[] handles, Kind kind) {
        int result = clear(driver, address, bytes);
        long each = bytes / handles.length;
        long at = address;
        for (int i = 0; i < handles.length && result == CudaResult.SUCCESS; i++) {
            result = driverPages.map(driver, at, each, handles[i]);
            if (result == CudaResult.SUCCESS) {
                pieces.put(at, new Piece(at, each, kind));
                at += each;
                reached = Math.max(reached, at);
            }
        }
        if (result == CudaResult.SUCCESS) {
            result = driverPages.allow(driver, address, bytes);
        }
        if (result != CudaResult.SUCCESS) {
            unmapAll(driver, address, at);
            fill(driver, address, address + bytes);
        }
        return result;
    }

    /** Unmaps memory of the window, which is given back with it; the sink takes its place. */
    int remove(DriverCalls driver, long address, long bytes) {
        return take(driver, address, bytes, Kind.REAL);
    }

    /** Unmaps whole mappings of a program; the sink takes their place. Returns INVALID_VALUE if the range is not exactly such mappings. */
    int removeOfProgram(DriverCalls driver, long address, long bytes) {
        return take(driver, address, bytes, Kind.PROGRAM);
    }

    private int take(DriverCalls driver, long address, long bytes, Kind kind) {
        List<Piece> there = overlapping(address, address + bytes);
        long covered = there.stream().filter(piece -> piece.kind == kind || kind == Kind.REAL && piece.kind == Kind.AWAY)
                .mapToLong(Piece::bytes).sum();
        if (there.isEmpty() || covered != bytes || there.getFirst().address != address
                || there.getLast().end() != address + bytes) {
            return CudaResult.INVALID_VALUE;
        }
        for (Piece piece : there) {
            int result = piece.kind == Kind.AWAY ? CudaResult.SUCCESS : driverPages.unmap(driver, piece.address, piece.bytes);
            if (result != CudaResult.SUCCESS) {
                fill(driver, address, address + bytes);
                return result;
            }
            pieces.remove(piece.address);
            realBytes -= piece.kind == Kind.REAL ? piece.bytes : 0;
            awayBytes -= piece.kind == Kind.AWAY ? piece.bytes : 0;
            if (kind == Kind.REAL) {
                givenUp.accept(piece.address);
            }
        }
        return fill(driver, address, address + bytes);
    }

    /** Returns whether a piece of the window's memory is not on the device. */
    boolean isAway(long address) {
        Piece piece = pieces.get(address);
        return piece != null && piece.kind == Kind.AWAY;
    }

    /** Returns pieces of the window's memory that are on the device, or that are off it, from the lowest address on. */
    long[] pieces(boolean away, int most) {
        Kind wanted = away ? Kind.AWAY : Kind.REAL;
        return pieces.values().stream().filter(piece -> piece.kind == wanted).limit(most).mapToLong(Piece::address).toArray();
    }

    /**
     * Takes memory of the window off the device. Then nothing is mapped at its addresses, not even the sink: no kernel of the tenant runs
     * before the memory is back, and no other tenant's fenced kernel reaches them.
     *
     * @param first of adjacent pieces
     * @return a CUresult; other than SUCCESS: nothing has changed
     */
    int leave(DriverCalls driver, long first, int count) {
        int result = driverPages.unmap(driver, first, count * slotBytes);
        for (int i = 0; i < count && result == CudaResult.SUCCESS; i++) {
            pieces.put(first + i * slotBytes, new Piece(first + i * slotBytes, slotBytes, Kind.AWAY));
            realBytes -= slotBytes;
            awayBytes += slotBytes;
        }
        return result;
    }

    /**
     * Maps memory at pieces that are away; takes over the handles whatever the result is.
     *
     * @param first of adjacent pieces, one for each handle
     * @return a CUresult; other than SUCCESS: nothing has changed
     */
    int arrive(DriverCalls driver, long first, long[] handles) {
        int mapped = 0;
        int result = CudaResult.SUCCESS;
        while (mapped < handles.length && result == CudaResult.SUCCESS) {
            result = driverPages.map(driver, first + mapped * slotBytes, slotBytes, handles[mapped]);
            mapped += result == CudaResult.SUCCESS ? 1 : 0;
        }
        if (result == CudaResult.SUCCESS) {
            result = driverPages.allow(driver, first, handles.length * slotBytes);
        }
        for (long handle : handles) {
            driverPages.drop(driver, handle);
        }
        if (result != CudaResult.SUCCESS) {
            unmapRun(driver, first, first + mapped * slotBytes);
            return result;
        }
        for (int i = 0; i < handles.length; i++) {
            pieces.put(first + i * slotBytes, new Piece(first + i * slotBytes, slotBytes, Kind.REAL));
            realBytes += slotBytes;
            awayBytes -= slotBytes;
        }
        return result;
    }

    /**
     * Unmaps the sink for host memory. The range stays reserved: the driver protects 32 MiB around registered memory from later reservations (seen on an H200),
     * but not from a reservation that was there before.
     *
     * @return a CUresult; INVALID_VALUE: the range has another mapping
     */
    int openHost(DriverCalls driver, long address, long bytes) {
        int result = clear(driver, address, bytes);
        if (result == CudaResult.SUCCESS) {
            pieces.put(address, new Piece(address, bytes, Kind.HOST));
        }
        return result;
    }

    /** Maps the sink in the place of host memory, for which {@link #openHost} made room and which was removed. Returns a CUresult. */
    int closeHost(DriverCalls driver, long address, long bytes) {
        Piece piece = pieces.get(address);
        if (piece == null || piece.kind != Kind.HOST || piece.bytes != bytes) {
            return CudaResult.INVALID_VALUE;
        }
        pieces.remove(address);
        return fill(driver, address, address + bytes);
    }

    /** Unmaps everything and gives addresses and sinks back. Returns SUCCESS or the first other CUresult. */
    int close(DriverCalls driver) {
        int first = CudaResult.SUCCESS;
        long begin = 0;
        long end = 0;
        for (Piece piece : pieces.values()) {
            if (piece.kind == Kind.HOST || piece.kind == Kind.AWAY) {
                continue; // its owner unmaps host memory
            }
            if (piece.address != end) {
                first = worse(first, unmapRun(driver, begin, end));
                begin = piece.address;
            }
            end = piece.end();
        }
        first = worse(first, unmapRun(driver, begin, end));
        pieces.clear();
        realBytes = 0;
        awayBytes = 0;
        for (Map.Entry<Long, Long> range : reserved.entrySet()) {
            first = worse(first, driverPages.release(driver, range.getKey(), range.getValue()));
        }
        reserved.clear();
        if (granuleSink != 0 && granuleSink != slotSink) {
            first = worse(first, driverPages.drop(driver, granuleSink));
        }
        if (slotSink != 0) {
            first = worse(first, driverPages.drop(driver, slotSink));
        }
        granuleSink = 0;
        slotSink = 0;
        backed = false;
        return first;
    }

    /** Adjacent mappings are unmapped by one call. */
    private int unmapRun(DriverCalls driver, long begin, long end) {
        return begin == end ? CudaResult.SUCCESS : driverPages.unmap(driver, begin, end - begin);
    }

    private static int worse(int known, int result) {
        return known == CudaResult.SUCCESS ? result : known;
    }
}
