package io.tessera.guardian.heap;

/**
 * The allocator inside a window: hands out ranges of one part of it. Physical memory is committed and released through a {@link CommitPort} within
 * the tenant's quota. The heap never touches the memory.
 *
 * <ul>
 * <li>Up to 128 KiB: rounded up to 256 bytes, in arenas of 2 MiB.
 * <li>Larger ones: rounded up to 4 KiB, anywhere. If no free block is large enough, the allocation goes where the least memory has to be added, which
 * may be after a free block. If all sizes are multiples of 2 MiB, as PyTorch's segments are, all addresses are multiples of 2 MiB.
 * </ul>
 *
 * A freed block joins its free neighbours at once. Its memory stays until {@link #trim}, until the quota shrinks, or until the quota has no room for
 * memory that is needed elsewhere in the range. Freeing, and allocating from committed memory, take constant time and create no object.
 *
 * <p>Offsets count from the start of the part. Answers below 0 are refusals ({@link HeapRefusal#of}).
 *
 * <p>Not thread-safe: one owner thread uses the heap, and the port is called on that thread.
 */
public final class WindowHeap {
    /** The quota of a tenant without a limit. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** Argument of {@link #reserve}: any place. */
    public static final long ANYWHERE = -1;

    private static final int PAGE_LOG2 = HeapSettings.PAGE_LOG2;
    private static final int CELL_LOG2 = HeapSettings.CELL_LOG2;
    private static final long CELL = HeapSettings.MIN_ALIGNMENT_BYTES;
    private static final long PAGE = 1L << PAGE_LOG2;

    /** An arena holds 16 of these, so that what no more fits at its end is little. */
    private static final long LARGEST_SMALL = 128L << 10;

    private final HeapSettings settings;
    private final QuotaAccount quota;
    private final PageHeap pages;
    private final ArenaPool small;

    private long liveBytes;
    private long liveCount;

    /**
     * Creates a heap with nothing allocated and nothing committed.
     *
     * @param port       owned by the caller
     * @param quotaBytes {@link #UNLIMITED} for none
     */
    public WindowHeap(HeapSettings settings, CommitPort port, long quotaBytes) {
        this.settings = settings;
        this.quota = new QuotaAccount(settings.granuleBytes(), quotaBytes);
        this.pages = new PageHeap(settings, port, quota);
        this.small = new ArenaPool(pages, settings.rangeBytes());
    }

    /**
     * Allocates with the default alignment for the size.
     *
     * @param bytes above 0
     * @return the offset, or a refusal: {@link HeapRefusal#INVALID_REQUEST}, {@link HeapRefusal#OVER_QUOTA}, {@link HeapRefusal#NO_ADDRESSES}, {@link
     * HeapRefusal#NO_MEMORY}; then the live allocations are unchanged
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
        return bytes <= LARGEST_SMALL && alignmentBytes <= LARGEST_SMALL ? allocateCells(bytes, alignmentBytes)
                : allocatePages(bytes, alignmentBytes);
    }

    /** Returns whether physical memory is within the quota, after releasing memory that was freed since the quota shrank. */
    private boolean withinQuota() {
        if (quota.room() < 0) {
            small.removeSpare();
            pages.giveBack(-quota.room());
        }
        return quota.room() >= 0;
    }

    private long allocateCells(long bytes, long alignmentBytes) {
        long rounded = bytes + CELL - 1 & -CELL;
        if (!quota.allows(rounded)) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        int cells = (int) (rounded >>> CELL_LOG2);
        int alignCells = (int) Math.max(1, alignmentBytes >>> CELL_LOG2);
        int row = small.allocate(cells, alignCells, bytes);
        if (row == BlockTable.NONE && small.addArena() == 0) {
            row = small.allocate(cells, alignCells, bytes);
        }
        // If no arena is available, there may still be room for a small allocation.
        return row == BlockTable.NONE ? allocatePages(bytes, alignmentBytes) : handedOut(small.pool, row, bytes);
    }

    private long handedOut(BlockPool pool, int row, long bytes) {
        liveBytes += bytes;
        liveCount++;
        quota.roundedBytes += (long) pool.blocks.size[row] << pool.unitLog2;
        return pool.blocks.start[row] << pool.unitLog2;
    }

    private long allocatePages(long bytes, long alignmentBytes) {
        long rounded = bytes + PAGE - 1 & -PAGE;
        if (!quota.allows(rounded)) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        int units = (int) (rounded >>> PAGE_LOG2);
        int alignUnits = (int) Math.max(1, alignmentBytes >>> PAGE_LOG2);
        long row = pages.allocate(units, alignUnits, bytes);
        if (row < 0 && small.removeSpare()) {
            row = pages.allocate(units, alignUnits, bytes);
        }
        return row < 0 ? row : handedOut(pages.pool, (int) row, bytes);
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
        } else {
            pages.release(row);
        }
        return bytes;
    }

    private BlockPool poolAt(long offset) {
        return offset >= 0 && offset < settings.rangeBytes() && small.holds(offset) ? small.pool : pages.pool;
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
        int units = (int) ((bytes + granule - 1 & -granule) >>> PAGE_LOG2);
        long alignment = Math.max(granule, alignmentBytes);
        long row = HeapRefusal.NO_ADDRESSES.code();
        if (wantedOffset >= 0 && wantedOffset < settings.rangeBytes() && wantedOffset % alignment == 0) {
            row = pages.reserveAt(wantedOffset >>> PAGE_LOG2, units, bytes);
        }
        if (row < 0) {
            row = pages.reserve(units, (int) (alignment >>> PAGE_LOG2), bytes);
        }
        return row < 0 ? row : pages.pool.blocks.start[(int) row] << PAGE_LOG2;
    }

    /**
     * Takes a reservation back; the caller has unmapped what it mapped there.
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
        pages.unreserve(row);
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
            small.removeSpare();
            pages.giveBack(bytes - quota.room());
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
        small.removeSpare();
        return pages.giveBack(Math.min(bytes, settings.rangeBytes()));
    }

    /** The bytes of empty arenas, which are whole granules only where a granule is a span. */
    private long spareBytes() {
        return settings.granuleBytes() == HeapSettings.SPAN_BYTES ? small.spareBytes() : 0;
    }

    /** The heap now. Takes time in proportion to what is not small: not for every allocation. */
    public HeapStatistics statistics() {
        int largest = pages.pool.largestFree();
        long largestFree = largest > 0 ? (long) largest << PAGE_LOG2
                : (long) small.pool.largestFree() << CELL_LOG2;
        return new HeapStatistics(liveCount, liveBytes, quota.roundedBytes, quota.committedBytes,
                pages.reclaimableBytes() + spareBytes(), pages.reservedBytes(), quota.chargedBytes, quota.quotaBytes(), largestFree);
    }
}
