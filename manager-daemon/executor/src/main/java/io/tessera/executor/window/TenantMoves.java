package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.swap.ContentKernel;
import io.tessera.executor.swap.DeviceSwap;
import io.tessera.executor.swap.HandedPieces;
import io.tessera.executor.swap.HostFrames;
import io.tessera.executor.swap.PieceContent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Moves a tenant's memory between device and host, a group of pieces at a time, while no kernel of the tenant runs. Parts that are zero are dropped, and
 * cleared when they come back. Parts that equal the copy which the host kept are dropped, too. All others are copied. Guarded by the window's lock.
 */
final class TenantMoves {
    /** Size of a group of pieces that moves together: others can use its memory as soon as the group has left. */
    private static final long GROUP_BYTES = 1L << 30;
    private static final long PART = HostFrames.FRAME_BYTES;
    /** Value of a result that the kernel has not written. It cannot be a hash, since those are below 2^61. */
    private static final long NOT_RUN = -1;
    private static final long[] NONE = {};

    private final WindowPages pages;
    private final DriverPages driverPages;
    private final long pieceBytes;
    private final int parts;
    private final int group;
    private final ContentKernel kernel;
    private final HostFrames host;
    private final HandedPieces handed;
    private final NanoClock clock;
    private final OwnStream stream = new OwnStream();
    private final Map<Long, PieceContent> contents = new HashMap<>();
    /** The results for the parts of a group, {@link ContentKernel#RESULT} numbers each. */
    private final long[] results;
    /** Pinned memory from which the kernel reads addresses and to which it writes results; 0: none yet. */
    private long table;
    /** Written with the lock, read by any thread. */
    private volatile long copiedBytes;
    private volatile long sparedBytes;
    /** Whether memory of the group that comes in has contents of another tenant. */
    private boolean tookHanded;
    private long lookNs;
    private long copyNs;
    private long mapNs;

    TenantMoves(WindowPages pages, DriverPages driverPages, long pieceBytes, DeviceSwap swap, NanoClock clock) {
        this.pages = pages;
        this.driverPages = driverPages;
        this.pieceBytes = pieceBytes;
        this.parts = Math.toIntExact(pieceBytes / PART);
        this.group = (int) Math.max(1, GROUP_BYTES / pieceBytes);
        this.kernel = swap.kernel();
        this.host = swap.host();
        this.handed = swap.handed();
        this.clock = clock;
        this.results = new long[group * parts * ContentKernel.RESULT];
        pages.givenUp(this::forget);
    }

    /** A copy of a range that is contiguous on both sides, in one direction. */
    private interface Copy {
        int copy(long device, long frame, long bytes);
    }

    private void forget(long piece) {
        PieceContent content = contents.remove(piece);
        if (content != null) {
            content.hold(host);
            content.forget(host);
        }
    }

    /** Time that moves have taken by step since it was last read, for logs. */
    String times() {
        String said = String.format(Locale.ROOT, "looking %.1f, copying and clearing %.1f, pages %.1f ms", lookNs / 1e6, copyNs / 1e6, mapNs / 1e6);
        lookNs = 0;
        copyNs = 0;
        mapNs = 0;
        return said;
    }

    /** Returns the bytes that were copied to the host so far. */
    long copiedBytes() {
        return copiedBytes;
    }

    /** Returns the bytes that have left so far without a copy. */
    long sparedBytes() {
        return sparedBytes;
    }

    /**
     * Takes memory off the device, from the lowest addresses on, while more is wanted.
     *
     * @param more  asked before each group, when the previous group has left
     * @param hands whether another tenant takes the memory; otherwise the driver gets it back
     * @return a CUresult; OUT_OF_MEMORY: the host has no room for the rest, which stays
     */
    int out(DriverCalls driver, BooleanSupplier more, BooleanSupplier hands) {
        int result = CudaResult.SUCCESS;
        long[] pieces = pages.pieces(false, group);
        while (result == CudaResult.SUCCESS && pieces.length > 0 && more.getAsBoolean()) {
            result = groupOut(driver, pieces, hands.getAsBoolean());
            pieces = pages.pieces(false, group);
        }
        return result;
    }

    private int groupOut(DriverCalls driver, long[] pieces, boolean hands) {
        List<PieceContent> leaving = new ArrayList<>();
        for (long piece : pieces) {
            PieceContent content = contents.computeIfAbsent(piece, _ -> new PieceContent(parts));
            content.hold(host);
            leaving.add(content);
        }
        long beganNs = clock.nanoTime();
        boolean looked = look(driver, pieces);
        long lookedNs = clock.nanoTime();
        int result = copyOut(driver, pieces, leaving, looked);
        long copiedNs = clock.nanoTime();
        if (result == CudaResult.SUCCESS) {
            result = eachRun(pieces, (first, count) -> leave(driver, first, hands ? new long[count] : NONE, count));
        }
        lookNs += lookedNs - beganNs;
        copyNs += copiedNs - lookedNs;
        mapNs += clock.nanoTime() - copiedNs;
        for (int i = 0; i < pieces.length && result != CudaResult.SUCCESS; i++) {
            if (!pages.isAway(pieces[i])) {
                leaving.get(i).keep(host);
            }
        }
        return result;
    }

    /** Takes pieces side by side off the device; hands as many of them on as {@code handles} has room for. */
    private int leave(DriverCalls driver, long first, long[] handles, int count) {
        int kept = 0;
        while (kept < handles.length && driverPages.retain(driver, first + kept * pieceBytes) == CudaResult.SUCCESS) {
            handles[kept++] = driver.outLong(0);
        }
        int result = pages.leave(driver, first, count);
        for (int i = 0; i < kept; i++) {
            if (result == CudaResult.SUCCESS) {
                handed.give(handles[i], pieceBytes);
            } else {
                driverPages.drop(driver, handles[i]);
            }
        }
        return result;
    }

    private boolean look(DriverCalls driver, long[] pieces) {
        if (!kernel.isLoaded() || !hasTable(driver)) {
            return false;
        }
        int count = pieces.length * parts;
        MemorySegment shared = MemorySegment.ofAddress(table).reinterpret(PART);
        long resultsAt = (long) group * parts * Long.BYTES;
        for (int i = 0; i < count; i++) {
            shared.setAtIndex(ValueLayout.JAVA_LONG, i, pieces[i / parts] + i % parts * PART);
            shared.set(ValueLayout.JAVA_LONG, resultsAt + (long) i * ContentKernel.RESULT * Long.BYTES, NOT_RUN);
        }
        int result = stream.submit(driver, own -> kernel.begin(driver, own, table, count, table + resultsAt));
        result = result == CudaResult.SUCCESS ? stream.await(driver) : result;
        MemorySegment.copy(shared, ValueLayout.JAVA_LONG, resultsAt, results, 0, count * ContentKernel.RESULT);
        for (int i = 0; i < count; i++) {
            if (results[i * ContentKernel.RESULT] == NOT_RUN) {
                return false;
            }
        }
        return result == CudaResult.SUCCESS;
    }

    private boolean hasTable(DriverCalls driver) {
        if (table == 0) {
            long[] frame = host.take(driver, 1);
            table = frame == null ? 0 : frame[0];
        }
        return table != 0;
    }

    /** Copies changed contents, or all contents if they were not examined. */
    private int copyOut(DriverCalls driver, long[] pieces, List<PieceContent> leaving, boolean looked) {
        boolean[] copied = new boolean[pieces.length * parts];
        int missing = 0;
        int copies = 0;
        for (int i = 0; i < copied.length; i++) {
            PieceContent content = leaving.get(i / parts);
            int at = i * ContentKernel.RESULT;
            if (looked && results[at + ContentKernel.RESULT - 1] == 0) {
                content.zero(i % parts, host);
            } else if (!looked || !content.isUnchanged(i % parts, results, at)) {
                copied[i] = true;
                missing += content.frame(i % parts) == 0 ? 1 : 0;
                copies++;
            }
        }
        long[] frames = missing == 0 ? new long[0] : host.take(driver, missing);
        if (frames == null) {
            return CudaResult.OUT_OF_MEMORY;
        }
        int next = 0;
        for (int i = 0; i < copied.length; i++) {
            PieceContent content = leaving.get(i / parts);
            if (copied[i]) {
                long frame = content.frame(i % parts);
                content.copied(i % parts, frame == 0 ? frames[next++] : frame, looked ? results : null, i * ContentKernel.RESULT);
            }
        }
        int begun = stream.submit(driver, own -> eachCopy(pieces, leaving, copied,
                (device, frame, bytes) -> driver.call(DriverEntry.cuMemcpyDtoHAsync_v2, frame, device, bytes, own)));
        int result = stream.await(driver);
        result = begun == CudaResult.SUCCESS ? result : begun;
        if (result == CudaResult.SUCCESS) {
            copiedBytes += copies * PART;
            sparedBytes += (copied.length - copies) * PART;
        } else {
            leaving.forEach(content -> content.forget(host)); // its hashes are those of copies that were not made
        }
        return result;
    }

    private int eachCopy(long[] pieces, List<PieceContent> moving, boolean[] copied, Copy copy) {
        int result = CudaResult.SUCCESS;
        for (int i = 0; i < copied.length && result == CudaResult.SUCCESS;) {
            if (!copied[i]) {
                i++;
                continue;
            }
            long device = pieces[i / parts] + i % parts * PART;
            long frame = moving.get(i / parts).frame(i % parts);
            long bytes = 0;
            while (i < copied.length && copied[i] && pieces[i / parts] + i % parts * PART == device + bytes
                    && moving.get(i / parts).frame(i % parts) == frame + bytes) {
                bytes += PART;
                i++;
            }
            result = copy.copy(device, frame, bytes);
        }
        return result;
    }

    /** An action on adjacent pieces, which one call moves. */
    private interface Run {
        int run(long first, int count);
    }

    private int eachRun(long[] pieces, Run run) {
        int result = CudaResult.SUCCESS;
        for (int i = 0; i < pieces.length && result == CudaResult.SUCCESS;) {
            int begin = i;
            do {
                i++;
            } while (i < pieces.length && pieces[i] == pieces[i - 1] + pieceBytes);
            result = run.run(pieces[begin], i - begin);
        }
        return result;
    }

    /**
     * Brings memory back to the device, as far as there is any.
     *
     * @param roomBytes that may be taken, asked before each group
     * @return a CUresult; OUT_OF_MEMORY: not all is back
     */
    int in(DriverCalls driver, LongSupplier roomBytes) {
        int result = CudaResult.SUCCESS;
        while (result == CudaResult.SUCCESS && pages.awayBytes() > 0) {
            long room = roomBytes.getAsLong() / pieceBytes;
            result = room <= 0 ? CudaResult.OUT_OF_MEMORY : groupIn(driver, pages.pieces(true, (int) Math.min(group, room)));
        }
        return result;
    }

    private int groupIn(DriverCalls driver, long[] away) {
        long beganNs = clock.nanoTime();
        tookHanded = false;
        List<Long> back = new ArrayList<>();
        int made = eachRun(away, (first, count) -> runIn(driver, first, count, back));
        if (back.isEmpty()) {
            return made;
        }
        long madeNs = clock.nanoTime();
        long[] pieces = back.stream().mapToLong(Long::longValue).toArray();
        List<PieceContent> coming = back.stream().map(contents::get).toList();
        int begun = stream.submit(driver, own -> fill(driver, own, pieces, coming));
        int result = stream.await(driver);
        result = begun == CudaResult.SUCCESS ? result : begun;
        if (result != CudaResult.SUCCESS) {
            eachRun(pieces, (first, count) -> pages.leave(driver, first, count)); // the host's copies are still complete
            return result;
        }
        coming.forEach(content -> content.keep(host));
        mapNs += madeNs - beganNs;
        copyNs += clock.nanoTime() - madeNs;
        return made;
    }

    private int runIn(DriverCalls driver, long first, int count, List<Long> back) {
        long[] handles = new long[count];
        int made = 0;
        int result = CudaResult.SUCCESS;
        while (made < count && result == CudaResult.SUCCESS) {
            long taken = handed.take(pieceBytes);
            tookHanded |= taken != 0;
            result = taken == 0 ? create(driver) : CudaResult.SUCCESS;
            if (result == CudaResult.SUCCESS) {
                handles[made++] = taken == 0 ? driver.outLong(0) : taken;
            }
        }
        int arrived = made == 0 ? CudaResult.SUCCESS : pages.arrive(driver, first, Arrays.copyOf(handles, made));
        for (int i = 0; i < made && arrived == CudaResult.SUCCESS; i++) {
            back.add(first + i * pieceBytes);
        }
        return arrived == CudaResult.SUCCESS ? result : arrived;
    }

    /** Has the driver make a piece, which may need the memory of handed pieces of another size. */
    private int create(DriverCalls driver) {
        releaseHanded(driver);
        return driverPages.create(driver, pieceBytes);
    }

    /** Returns the memory that another tenant has handed on, in bytes. */
    long handedBytes() {
        return handed.bytes();
    }

    /** Gives the driver the memory that was handed on and not taken. */
    void releaseHanded(DriverCalls driver) {
        handed.clear(handle -> driverPages.drop(driver, handle));
    }

    /** Clears parts that were zero, since others had this memory, and copies the rest. */
    private int fill(DriverCalls driver, long own, long[] pieces, List<PieceContent> coming) {
        boolean[] copied = new boolean[pieces.length * parts];
        boolean clean = driver.port().makesZeroedMemory() && !tookHanded;
        int result = CudaResult.SUCCESS;
        for (int i = 0; i < copied.length && result == CudaResult.SUCCESS; i++) {
            copied[i] = coming.get(i / parts).frame(i % parts) != 0;
            if (!copied[i] && !clean) {
                int begin = i;
                while (i + 1 < copied.length && (i + 1) % parts != 0 && coming.get(i / parts).frame((i + 1) % parts) == 0) {
                    i++;
                }
                result = driver.call(DriverEntry.cuMemsetD8Async, pieces[begin / parts] + begin % parts * PART, 0, (i + 1 - begin) * PART, own);
            }
        }
        return result == CudaResult.SUCCESS ? eachCopy(pieces, coming, copied,
                (device, frame, bytes) -> driver.call(DriverEntry.cuMemcpyHtoDAsync_v2, device, frame, bytes, own)) : result;
    }

    /** Gives copies and stream back. Returns a CUresult. */
    int close(DriverCalls driver) {
        List.copyOf(contents.keySet()).forEach(this::forget);
        if (table != 0) {
            host.give(table);
            table = 0;
        }
        return stream.close(driver);
    }
}
