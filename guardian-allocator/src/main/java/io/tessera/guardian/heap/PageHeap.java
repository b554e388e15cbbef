package io.tessera.guardian.heap;

import java.util.ArrayList;
import java.util.List;

/**
 * The heap's range in units of 4 KiB: which units have memory, which are allocated, and the rule by which memory is committed and released. An
 * allocation that does not fit in free memory is placed where the least memory has to be added.
 */
final class PageHeap {
    /** A growth is this part of what is committed: an eighth. */
    private static final int GROWTH_SHARE_LOG2 = 3;

    final BlockPool pool;
    private final BlockTable blocks;
    private final HeapSettings settings;
    private final CommitPort port;
    private final QuotaAccount quota;
    private final PageGrowth growth;
    private final PageTrim trim;
    private final int lowest;
    private long reservedBytes;

    /** Units from and to, exclusive. */
    private record Piece(long from, long to) {
        long offset() {
            return bytes(from);
        }

        long size() {
            return bytes(to - from);
        }
    }

    PageHeap(HeapSettings settings, CommitPort port, QuotaAccount quota) {
        this.settings = settings;
        this.port = port;
        this.quota = quota;
        int units = (int) (settings.rangeBytes() >>> HeapSettings.PAGE_LOG2);
        int granuleUnits = (int) (settings.granuleBytes() >>> HeapSettings.PAGE_LOG2);
        this.pool = new BlockPool(HeapSettings.PAGE_LOG2, units);
        this.blocks = pool.blocks;
        this.lowest = pool.addRegion(0, units, BlockTable.HOLE);
        this.growth = new PageGrowth(blocks, lowest, granuleUnits);
        this.trim = new PageTrim(pool, lowest, granuleUnits, port, quota);
    }

    private static long bytes(long units) {
        return units << HeapSettings.PAGE_LOG2;
    }

    private static long units(long bytes) {
        return bytes + (1L << HeapSettings.PAGE_LOG2) - 1 >>> HeapSettings.PAGE_LOG2;
    }

    long reservedBytes() {
        return reservedBytes;
    }

    /**
     * Hands units out, with memory that is free or that is added.
     *
     * @return the block, or the code of a refusal; then nothing live has changed, and nothing at all unless free memory
     *         was given back to make room in the quota
     */
    long allocate(int units, int alignUnits, long requestedBytes) {
        int row = pool.allocate(units, alignUnits, requestedBytes);
        if (row != BlockTable.NONE) {
            return row;
        }
        if (!growth.find(units, alignUnits)) {
            return HeapRefusal.NO_ADDRESSES.code();
        }
        long start = growth.start;
        long needed = bytes(growth.neededUnits);
        long excess = Math.max(0, needed - quota.room());
        if (needed > 0 && excess > bytes(trim.reclaimable(start, start + units))) {
            return HeapRefusal.OVER_QUOTA.code();
        }
        if (needed > 0 && !change(units, needed, excess)) {
            return HeapRefusal.NO_MEMORY.code();
        }
        int place = rowAround(start);
        return pool.handOut(place, start - blocks.start[place], units, requestedBytes);
    }

    private int rowAround(long unit) {
        int row = lowest;
        while (blocks.end(row) <= unit) {
            row = blocks.above[row];
        }
        return row;
    }

    private boolean change(int units, long needed, long excess) {
        if (!port.beginChange()) {
            return false;
        }
        try {
            if (excess > 0) {
                trim.giveBack(units(excess), growth.start, growth.start + units);
            }
            return commitPlace(growth.start, growth.start + units, needed);
        } finally {
            port.endChange();
        }
    }

    /** Commits every hole between two units; all of them or none. */
    private boolean commitPlace(long start, long end, long needed) {
        List<Piece> done = new ArrayList<>();
        for (int row = rowAround(start); row != BlockTable.NONE && blocks.start[row] < end; row = blocks.above[row]) {
            if (blocks.state[row] != BlockTable.HOLE) {
                continue;
            }
            Piece exact = new Piece(growth.pieceStart(row, start), growth.pieceEnd(row, end));
            Piece wide = exact.to >= end
                    ? new Piece(exact.from, Math.min(blocks.end(row), exact.to + aheadUnits(needed))) : exact;
            if (commit(wide)) {
                done.add(wide);
            } else if (wide.to > exact.to && commit(exact)) {
                done.add(exact);
            } else {
                takeIn(done);
                takeBack(done);
                return false;
            }
        }
        takeIn(done);
        return true;
    }

    private void takeIn(List<Piece> pieces) {
        for (Piece piece : pieces) {
            pool.fill(rowAround(piece.from), piece.from, (int) (piece.to - piece.from));
            quota.committedBytes += piece.size();
        }
    }

    /** Each piece separately, so that a piece that cannot be taken back is known as free memory. */
    private void takeBack(List<Piece> pieces) {
        for (Piece piece : pieces) {
            port.decommit(piece.offset(), piece.size());
            pool.empty(rowAround(piece.from), piece.from, (int) (piece.to - piece.from));
            quota.committedBytes -= piece.size();
        }
    }

    private boolean commit(Piece piece) {
        return port.commit(piece.offset(), piece.size());
    }

    /** So much more than needed is committed, because the tenant is at rest just now. */
    private long aheadUnits(long needed) {
        long step = Math.clamp(quota.committedBytes >> GROWTH_SHARE_LOG2, settings.minGrowBytes(),
                settings.maxGrowBytes());
        long more = Math.min(step, quota.room()) - needed;
        return more <= 0 ? 0 : (more & -settings.granuleBytes()) >>> HeapSettings.PAGE_LOG2;
    }

    /** Takes a block back; its memory stays. */
    void release(int row) {
        pool.release(row);
    }

    /**
     * Hands addresses out that have no memory, as high in the range as they go, away from where the heap grows.
     *
     * @return the block, or the code of a refusal
     */
    long reserve(int units, int alignUnits, long requestedBytes) {
        int found = BlockTable.NONE;
        long start = 0;
        for (int row = lowest; row != BlockTable.NONE; row = blocks.above[row]) {
            long at = blocks.end(row) - units & -(long) alignUnits;
            if (blocks.state[row] == BlockTable.HOLE && at >= blocks.start[row]) {
                found = row;
                start = at;
            }
        }
        return found == BlockTable.NONE ? HeapRefusal.NO_ADDRESSES.code() : reserve(found, start, units, requestedBytes);
    }

    /** Hands certain addresses out that have no memory. */
    long reserveAt(long start, int units, long requestedBytes) {
        int row = rowAround(start);
        return blocks.state[row] == BlockTable.HOLE && start + units <= blocks.end(row)
                ? reserve(row, start, units, requestedBytes) : HeapRefusal.NO_ADDRESSES.code();
    }

    private int reserve(int hole, long start, int units, long requestedBytes) {
        reservedBytes += bytes(units);
        return pool.reserve(hole, start, units, requestedBytes);
    }

    /** Takes addresses back that were handed out without memory. */
    void unreserve(int row) {
        reservedBytes -= bytes(blocks.size[row]);
        pool.unreserve(row);
    }

    /** Returns the number of bytes that could be released. */
    long reclaimableBytes() {
        return bytes(trim.reclaimable(0, 0));
    }

    /**
     * Gives free memory back.
     *
     * @return the bytes that went; 0 if memory cannot change now
     */
    long giveBack(long wantedBytes) {
        if (wantedBytes <= 0 || reclaimableBytes() == 0 || !port.beginChange()) {
            return 0;
        }
        try {
            return bytes(trim.giveBack(units(wantedBytes), 0, 0));
        } finally {
            port.endChange();
        }
    }
}
