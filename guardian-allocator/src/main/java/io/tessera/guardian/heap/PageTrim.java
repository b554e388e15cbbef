package io.tessera.guardian.heap;

/** Releases unused memory: whole granules of free blocks, from the top of the range downwards. */
final class PageTrim {
    private final BlockPool pool;
    private final BlockTable blocks;
    private final int lowest;
    private final int granuleUnits;
    private final CommitPort port;
    private final QuotaAccount quota;

    /** @param lowest the block at the bottom of the range; it always keeps its row */
    PageTrim(BlockPool pool, int lowest, int granuleUnits, CommitPort port, QuotaAccount quota) {
        this.pool = pool;
        this.blocks = pool.blocks;
        this.lowest = lowest;
        this.granuleUnits = granuleUnits;
        this.port = port;
        this.quota = quota;
    }

    private long up(long unit) {
        return unit + granuleUnits - 1 & -(long) granuleUnits;
    }

    private long down(long unit) {
        return unit & -(long) granuleUnits;
    }

    /** Units that could be given back without touching what lies between {@code keptFrom} and {@code keptTo}. */
    long reclaimable(long keptFrom, long keptTo) {
        long units = 0;
        for (int row = lowest; row != BlockTable.NONE; row = blocks.above[row]) {
            if (blocks.state[row] == BlockTable.FREE) {
                units += Math.max(0, down(blocks.end(row)) - upperFrom(row, keptFrom, keptTo))
                        + Math.max(0, lowerTo(row, keptFrom, keptTo) - up(blocks.start[row]));
            }
        }
        return units;
    }

    /** Returns the start of the releasable part of a free block above the kept range, or of the whole block. */
    private long upperFrom(int row, long keptFrom, long keptTo) {
        boolean apart = keptTo <= blocks.start[row] || keptFrom >= blocks.end(row);
        return up(apart ? blocks.start[row] : keptTo);
    }

    /** Returns the end of the releasable part below the kept range; 0 if there is none. */
    private long lowerTo(int row, long keptFrom, long keptTo) {
        boolean apart = keptTo <= blocks.start[row] || keptFrom >= blocks.end(row);
        return apart ? 0 : down(keptFrom);
    }

    /**
     * Gives back until enough is given.
     *
     * @param wanted units; more by less than a granule may go
     * @return the units that went
     */
    long giveBack(long wanted, long keptFrom, long keptTo) {
        int row = lowest;
        while (blocks.above[row] != BlockTable.NONE) {
            row = blocks.above[row];
        }
        long gone = 0;
        while (row != BlockTable.NONE && gone < wanted) {
            int below = blocks.below[row];
            if (blocks.state[row] == BlockTable.FREE) {
                long lowerTo = lowerTo(row, keptFrom, keptTo);
                gone += give(row, upperFrom(row, keptFrom, keptTo), down(blocks.end(row)), wanted - gone);
                if (lowerTo > 0) {
                    gone += give(row, up(blocks.start[row]), lowerTo, wanted - gone);
                }
            }
            row = below;
        }
        return gone;
    }

    private long give(int row, long from, long to, long wanted) {
        if (from >= to || wanted <= 0) {
            return 0;
        }
        long first = Math.max(from, down(to - wanted));
        long bytes = to - first << HeapSettings.PAGE_LOG2;
        port.decommit(first << HeapSettings.PAGE_LOG2, bytes);
        quota.committedBytes -= bytes;
        pool.empty(row, first, (int) (to - first));
        return to - first;
    }
}
