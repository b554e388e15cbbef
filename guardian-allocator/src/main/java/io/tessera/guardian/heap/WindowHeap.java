package io.tessera.guardian.heap;

/**
 * The allocator inside a window: hands out ranges of one part of it, with physical memory that comes and goes through a
 * {@link CommitPort} within the tenant's quota. It never touches the memory.
 *
 * <ul>
 *   <li>Up to 1 MiB: rounded up to 256 bytes, in arenas of 2 MiB.
 *   <li>Multiples of 2 MiB, and anything from 8 MiB on rounded up to them: whole spans, aligned to 2 MiB. The segments of
 *       PyTorch's caching allocator are of this kind, and waste nothing.
 *   <li>What is between: rounded up to 256 bytes, in arenas of 16 MiB.
 * </ul>
 *
 * What is freed joins its free neighbours at once, and its memory stays until {@link #trim}, until the quota shrinks, or
 * until the quota has no room for memory that is needed elsewhere in the range. Freeing and allocating what has memory
 * takes constant time and makes no object.
 *
 * <p>Offsets count from the start of the part. Answers below 0 are refusals ({@link HeapRefusal#of}).
 *
 * <p>Not thread-safe: one owner thread, which is also the one on which the port is called.
 */
public final class WindowHeap {
    /** The quota of who has none. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** For {@link #reserve}: any place will do. */
    public static final long ANYWHERE = -1;

    static final byte SPANS = 0;
    private static final byte SMALL = 1;
    private static final byte MEDIUM = 2;

    private static final int SPAN_LOG2 = HeapSettings.SPAN_LOG2;
    private static final int CELL_LOG2 = HeapSettings.CELL_LOG2;
    private static final long CELL = HeapSettings.MIN_ALIGNMENT_BYTES;
    private static final long SPAN = HeapSettings.SPAN_BYTES;

    private static final long LARGEST_SMALL = 1L << 20;
    private static final long LARGEST_MEDIUM = 8L << 20;
    private static final int SMALL_ARENA_SPANS = 1;
    private static final int MEDIUM_ARENA_SPANS = 8;

    private final HeapSettings settings;
    private final QuotaAccount quota;
    private final SpanHeap spans;
    private final ArenaPool small;
    private final ArenaPool medium;

    /** By span: which of the three hands out what is there. */
    private final byte[] kinds;

    private long liveBytes;
    private long liveCount;

    /**
     * A heap with nothing allocated and nothing committed.
     *
     * @param port       stays the caller's
     * @param quotaBytes {@link #UNLIMITED} for none
     */
    public WindowHeap(HeapSettings settings, CommitPort port, long quotaBytes) {
        this.settings = settings;
        this.quota = new QuotaAccount(settings.granuleBytes(), quotaBytes);
        this.spans = new SpanHeap(settings, port, quota);
        this.kinds = new byte[(int) (settings.rangeBytes() >>> SPAN_LOG2)];
        this.small = new ArenaPool(spans, kinds, SMALL, SMALL_ARENA_SPANS);
        this.medium = new ArenaPool(spans, kinds, MEDIUM, MEDIUM_ARENA_SPANS);
    }

    /**
     * Allocates with the alignment that its size has by itself.
     *
     * @param bytes above 0
     * @return the offset, or a refusal: {@link HeapRefusal#INVALID_REQUEST}, {@link HeapRefusal#OVER_QUOTA}, {@link
     *         HeapRefusal#NO_ADDRESSES}, {@link HeapRefusal#NO_MEMORY}; then everything live is as it was
     */
    public long allocate(long bytes) {
        return allocate(bytes, CELL);
    }

    /**
     * Allocates with an alignment.
     *
     * @param bytes          above 0
     * @param alignmentBytes of the offset, a power of two up to the range's size; less than 256 is 256
     * @return as {@link #allocate(long)}
     */
    public long allocate(long bytes, long alignmentBytes) {
        if (bytes <= 0 || Long.bitCount(alignmentBytes) != 1 || alignmentBytes <= 0
                || alignmentBytes > settings.rangeBytes()) {
            return HeapRefusal.INVALID_REQUEST.code();
        }
        if (bytes > settings.rangeBytes()) {
            return HeapRefusal.NO_ADDRESSES.code();
        }
        if (!withinQuota()) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        if (bytes <= LARGEST_SMALL && alignmentBytes <= LARGEST_SMALL) {
            return allocateCells(small, bytes, alignmentBytes);
        }
        if (bytes < LARGEST_MEDIUM && alignmentBytes < SPAN && (bytes & SPAN - 1) != 0) {
            return allocateCells(medium, bytes, alignmentBytes);
        }
        return allocateSpans(bytes, Math.max(alignmentBytes, SPAN));
    }

    /** Whether physical memory is within the quota, or is so now, after what was freed since it shrank has gone back. */
    private boolean withinQuota() {
        if (quota.room() < 0) {
            removeSpares();
            spans.giveBack(-quota.room());
        }
        return quota.room() >= 0;
    }

    private long allocateCells(ArenaPool arenas, long bytes, long alignmentBytes) {
        long rounded = bytes + CELL - 1 & -CELL;
        if (!quota.allows(rounded)) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        int cells = (int) (rounded >>> CELL_LOG2);
        int alignCells = (int) Math.max(1, alignmentBytes >>> CELL_LOG2);
        int row = arenas.allocate(cells, alignCells, bytes);
        if (row != BlockTable.NONE) {
            return handedOut(arenas.pool, row, bytes);
        }
        long refusal = arenas.addArena();
        if (refusal == 0) {
            return handedOut(arenas.pool, arenas.allocate(cells, alignCells, bytes), bytes);
        }
        return withoutArena(arenas, cells, alignCells, bytes, refusal);
    }

    /** No arena is to be had: what is little may still have room among the medium ones, and these as whole spans. */
    private long withoutArena(ArenaPool arenas, int cells, int alignCells, long bytes, long refusal) {
        if (arenas == medium) {
            return allocateSpans(bytes, SPAN);
        }
        int row = medium.allocate(cells, alignCells, bytes);
        if (row != BlockTable.NONE) {
            return handedOut(medium.pool, row, bytes);
        }
        if (medium.removeSpare() && small.addArena() == 0) {
            return handedOut(small.pool, small.allocate(cells, alignCells, bytes), bytes);
        }
        return refusal;
    }

    private long handedOut(BlockPool pool, int row, long bytes) {
        liveBytes += bytes;
        liveCount++;
        quota.roundedBytes += (long) pool.blocks.size[row] << pool.unitLog2;
        return pool.blocks.start[row] << pool.unitLog2;
    }

    private long allocateSpans(long bytes, long alignmentBytes) {
        long rounded = bytes + SPAN - 1 & -SPAN;
        if (!quota.allows(rounded)) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        int units = (int) (rounded >>> SPAN_LOG2);
        int alignUnits = (int) (alignmentBytes >>> SPAN_LOG2);
        long row = spans.allocate(units, alignUnits, bytes);
        if (row < 0 && removeSpares()) {
            row = spans.allocate(units, alignUnits, bytes);
        }
        return row < 0 ? row : handedOut(spans.pool, (int) row, bytes);
    }

    private boolean removeSpares() {
        return small.removeSpare() | medium.removeSpare();
    }

    /**
     * Takes an allocation back.
     *
     * @param offset as {@link #allocate(long)} returned it
     * @return the bytes that were asked for, or a refusal and nothing changed: {@link HeapRefusal#NOT_LIVE}, {@link
     *         HeapRefusal#INSIDE}, {@link HeapRefusal#WRONG_KIND} for a reservation
     */
    public long free(long offset) {
        BlockPool pool = poolAt(offset);
        int row = rowAt(pool, offset);
        if (row == BlockTable.NONE) {
            return notThere(offset);
        }
        if (pool.blocks.state[row] != BlockTable.USED) {
            return HeapRefusal.WRONG_KIND.code();
        }
        long bytes = pool.blocks.requestedBytes[row];
        liveBytes -= bytes;
        liveCount--;
        quota.roundedBytes -= (long) pool.blocks.size[row] << pool.unitLog2;
        if (pool == small.pool) {
            small.release(row);
        } else if (pool == medium.pool) {
            medium.release(row);
        } else {
            spans.release(row);
        }
        return bytes;
    }

    private BlockPool poolAt(long offset) {
        if (offset < 0 || offset >= settings.rangeBytes()) {
            return spans.pool;
        }
        byte kind = kinds[(int) (offset >>> SPAN_LOG2)];
        return kind == SMALL ? small.pool : kind == MEDIUM ? medium.pool : spans.pool;
    }

    private int rowAt(BlockPool pool, long offset) {
        return offset < 0 || (offset & (1L << pool.unitLog2) - 1) != 0 ? BlockTable.NONE
                : pool.liveAt(offset >>> pool.unitLog2);
    }

    private long notThere(long offset) {
        return startOf(offset) >= 0 ? HeapRefusal.INSIDE.code() : HeapRefusal.NOT_LIVE.code();
    }

    /**
     * The allocation or reservation around an address.
     *
     * @param offset any number
     * @return its start, or {@link HeapRefusal#NOT_LIVE}
     */
    public long startOf(long offset) {
        if (offset < 0 || offset >= settings.rangeBytes()) {
            return HeapRefusal.NOT_LIVE.code();
        }
        BlockPool pool = poolAt(offset);
        int row = pool.liveAround(offset >>> pool.unitLog2);
        if (row == BlockTable.NONE) {
            return HeapRefusal.NOT_LIVE.code();
        }
        long start = pool.blocks.start[row] << pool.unitLog2;
        return offset - start < pool.blocks.requestedBytes[row] ? start : HeapRefusal.NOT_LIVE.code();
    }

    /**
     * The size of an allocation or reservation as it was asked for.
     *
     * @param offset its start
     * @return bytes, or {@link HeapRefusal#NOT_LIVE}, {@link HeapRefusal#INSIDE}
     */
    public long sizeOf(long offset) {
        BlockPool pool = poolAt(offset);
        int row = rowAt(pool, offset);
        return row == BlockTable.NONE ? notThere(offset) : pool.blocks.requestedBytes[row];
    }

    /**
     * Reserves addresses of the range without memory, as cuMemAddressReserve does; the program maps its own memory there.
     *
     * @param bytes          above 0; rounded up to granules
     * @param alignmentBytes of the offset, a power of two up to the range's size; less than a granule is a granule
     * @param wantedOffset   tried first if it is aligned and free, or {@link #ANYWHERE}
     * @return the offset, or a refusal: {@link HeapRefusal#INVALID_REQUEST}, {@link HeapRefusal#NO_ADDRESSES}
     */
    public long reserve(long bytes, long alignmentBytes, long wantedOffset) {
        if (bytes <= 0 || Long.bitCount(alignmentBytes) != 1 || alignmentBytes <= 0
                || alignmentBytes > settings.rangeBytes()) {
            return HeapRefusal.INVALID_REQUEST.code();
        }
        if (bytes > settings.rangeBytes()) {
            return HeapRefusal.NO_ADDRESSES.code();
        }
        long granule = settings.granuleBytes();
        int units = (int) ((bytes + granule - 1 & -granule) >>> SPAN_LOG2);
        long alignment = Math.max(granule, alignmentBytes);
        long row = HeapRefusal.NO_ADDRESSES.code();
        if (wantedOffset >= 0 && wantedOffset < settings.rangeBytes() && wantedOffset % alignment == 0) {
            row = spans.reserveAt(wantedOffset >>> SPAN_LOG2, units, bytes);
        }
        if (row < 0) {
            row = spans.reserve(units, (int) (alignment >>> SPAN_LOG2), bytes);
        }
        return row < 0 ? row : spans.pool.blocks.start[(int) row] << SPAN_LOG2;
    }

    /**
     * Takes a reservation back; whoever mapped something there has unmapped it.
     *
     * @param offset as {@link #reserve} returned it
     * @return the bytes that were asked for, or a refusal as of {@link #free}
     */
    public long release(long offset) {
        BlockPool pool = poolAt(offset);
        int row = rowAt(pool, offset);
        if (row == BlockTable.NONE) {
            return notThere(offset);
        }
        if (pool.blocks.state[row] != BlockTable.RESERVED) {
            return HeapRefusal.WRONG_KIND.code();
        }
        long bytes = pool.blocks.requestedBytes[row];
        spans.unreserve(row);
        return bytes;
    }

    /**
     * Counts physical memory against the quota that the program makes itself, with cuMemCreate.
     *
     * @param bytes above 0
     * @return 0, or {@link HeapRefusal#INVALID_REQUEST}, {@link HeapRefusal#OVER_QUOTA}
     */
    public long charge(long bytes) {
        if (bytes <= 0) {
            return HeapRefusal.INVALID_REQUEST.code();
        }
        if (!quota.allows(bytes)) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        if (bytes > quota.room()) {
            removeSpares();
            spans.giveBack(bytes - quota.room());
        }
        if (bytes > quota.room()) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        quota.chargedBytes += bytes;
        return 0;
    }

    /**
     * Takes a charge back.
     *
     * @throws IllegalArgumentException if not as much is charged
     */
    public void discharge(long bytes) {
        if (bytes < 0 || bytes > quota.chargedBytes) {
            throw new IllegalArgumentException("of " + quota.chargedBytes + " charged bytes " + bytes + " cannot go");
        }
        quota.chargedBytes -= bytes;
    }

    /**
     * Changes the quota. Below what is in use nothing live is touched: free memory goes back, and nothing new is handed
     * out until enough was freed.
     *
     * @param bytes at least 0, {@link #UNLIMITED} for none; counted in whole granules, rounded up
     * @return bytes by which physical memory still exceeds it, 0 if it does not
     */
    public long setQuota(long bytes) {
        quota.change(bytes);
        return withinQuota() ? 0 : -quota.room();
    }

    /** Gives all physical memory back that holds nothing live, in whole granules. */
    public long trim() {
        return trim(Long.MAX_VALUE);
    }

    /**
     * Gives physical memory back that holds nothing live.
     *
     * @param bytes enough is given back then; up to a granule more may go
     * @return the bytes that went; 0 also if memory cannot change now
     */
    public long trim(long bytes) {
        removeSpares();
        return spans.giveBack(Math.min(bytes, settings.rangeBytes()));
    }

    /** Of empty arenas, which are whole granules only where a granule is a span. */
    private long spareBytes() {
        return settings.granuleBytes() == SPAN ? small.spareBytes() + medium.spareBytes() : 0;
    }

    /** The heap now. Takes time in proportion to the large blocks: not for every allocation. */
    public HeapStatistics statistics() {
        int largest = spans.pool.largestFree();
        long largestFree = largest > 0 ? (long) largest << SPAN_LOG2
                : (long) Math.max(small.pool.largestFree(), medium.pool.largestFree()) << CELL_LOG2;
        return new HeapStatistics(liveCount, liveBytes, quota.roundedBytes, quota.committedBytes,
                spans.reclaimableBytes() + spareBytes(), spans.reservedBytes(), quota.chargedBytes, quota.quotaBytes(), largestFree);
    }}
