package io.tessera.guardian.heap;

/**
 * Finds where new memory is best put for an allocation that nothing free can hold: the place that needs the least of
 * it, the lowest of equals. Looks at every block, which is little beside the mapping that follows.
 */
final class PageGrowth {
    private final BlockTable blocks;
    private final int lowest;
    private final int granuleUnits;

    /** Start of the allocation; valid after {@link #find} returned true. */
    long start;

    /** New memory that it needs, in units. */
    long neededUnits;

    /** @param lowest the block at the bottom of the range; it always keeps its row */
    PageGrowth(BlockTable blocks, int lowest, int granuleUnits) {
        this.blocks = blocks;
        this.lowest = lowest;
        this.granuleUnits = granuleUnits;
    }

    private boolean isOpen(int row) {
        return row != BlockTable.NONE
                && (blocks.state[row] == BlockTable.FREE || blocks.state[row] == BlockTable.HOLE);
    }

    /**
     * Looks for a place.
     *
     * @return false if no free addresses are long enough
     */
    boolean find(int units, int alignUnits) {
        neededUnits = Long.MAX_VALUE;
        long runStart = 0;
        boolean inRun = false;
        for (int row = lowest; row != BlockTable.NONE; row = blocks.above[row]) {
            if (!isOpen(row)) {
                inRun = false;
                continue;
            }
            if (!inRun) {
                runStart = blocks.start[row];
                inRun = true;
            }
            tryAt(row, blocks.start[row] + alignUnits - 1 & -(long) alignUnits, units);
            if (blocks.state[row] == BlockTable.FREE) {
                long at = blocks.end(row) - units & -(long) alignUnits;
                if (at >= runStart && at < blocks.start[row]) {
                    tryAt(rowBelow(row, at), at, units);
                }
            }
        }
        return neededUnits != Long.MAX_VALUE;
    }

    private int rowBelow(int row, long at) {
        int found = row;
        while (blocks.start[found] > at) {
            found = blocks.below[found];
        }
        return found;
    }

    private void tryAt(int row, long at, int units) {
        long needed = 0;
        long end = at + units;
        int current = row;
        for (; isOpen(current) && blocks.start[current] < end; current = blocks.above[current]) {
            if (blocks.end(current) <= at) {
                continue;
            }
            if (blocks.state[current] == BlockTable.HOLE) {
                needed += pieceEnd(current, end) - pieceStart(current, at);
                if (needed >= neededUnits) {
                    return;
                }
            }
            if (blocks.end(current) >= end) {
                neededUnits = needed;
                start = at;
                return;
            }
        }
    }

    /** Returns the start of the memory in a hole that an allocation from {@code at} on needs. */
    long pieceStart(int hole, long at) {
        return Math.max(blocks.start[hole], at & -(long) granuleUnits);
    }

    /** Returns the end of the memory in a hole that an allocation up to {@code end} needs. */
    long pieceEnd(int hole, long end) {
        return Math.min(blocks.end(hole), end + granuleUnits - 1 & -(long) granuleUnits);
    }
}
