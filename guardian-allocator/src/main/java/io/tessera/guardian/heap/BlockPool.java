package io.tessera.guardian.heap;

/**
 * Hands out blocks of regions that it was given, joins what is freed with its free neighbours, and finds blocks again by
 * address. Everything in units of its own, 2^unitLog2 bytes; offsets of regions are multiples of it. Constant time, but
 * for the look through one size class when nothing else fits.
 */
final class BlockPool {
    final BlockTable blocks = new BlockTable();
    final int unitLog2;
    private final FreeLists free = new FreeLists(blocks);
    private final LiveIndex live;
    private int wholeRegions;

    /** @param largestUnits no region is larger */
    BlockPool(int unitLog2, int largestUnits) {
        this.unitLog2 = unitLog2;
        this.live = new LiveIndex(largestUnits);
    }

    /** Adds a region as one block of a kind, without neighbours. */
    int addRegion(long start, int units, byte kind) {
        int row = blocks.create(start, units, kind);
        if (kind == BlockTable.FREE) {
            free.insert(row);
            wholeRegions++;
        }
        return row;
    }

    /** Removes a region that is one free block. */
    void removeRegion(int row) {
        free.remove(row);
        blocks.remove(row);
        wholeRegions--;
    }

    /** Regions that are one free block. */
    int wholeRegions() {
        return wholeRegions;
    }

    /** Returns a region that is one free block, if there is one. */
    int wholeRegion(int units) {
        return free.find(units);
    }

    /**
     * Hands a block out.
     *
     * @param alignUnits     of its start, a power of two
     * @param requestedBytes kept with it
     * @return the block, or {@link BlockTable#NONE} if nothing free is large enough
     */
    int allocate(int units, int alignUnits, long requestedBytes) {
        int row = free.find(units);
        if (row != BlockTable.NONE && blocks.size[row] - units < skipped(row, alignUnits)) {
            int wanted = units + alignUnits - 1;
            row = wanted < units ? BlockTable.NONE : free.find(wanted);
        }
        return row == BlockTable.NONE ? BlockTable.NONE : handOut(row, skipped(row, alignUnits), units, requestedBytes);
    }

    private long skipped(int row, int alignUnits) {
        return -blocks.start[row] & alignUnits - 1;
    }

    /** Hands out a part of a free block, which begins {@code skipped} units above its start. */
    int handOut(int row, long skipped, int units, long requestedBytes) {
        int used = carve(row, skipped, units);
        blocks.state[used] = BlockTable.USED;
        blocks.requestedBytes[used] = requestedBytes;
        live.put(blocks.start[used], used);
        return used;
    }

    /** Cuts a part out of a free block and takes it off the lists; the rest stays free. */
    private int carve(int row, long skipped, int units) {
        if (blocks.isAlone(row)) {
            wholeRegions--;
        }
        free.remove(row);
        int part = row;
        if (skipped > 0) {
            part = blocks.split(row, (int) skipped);
            free.insert(row);
        }
        if (blocks.size[part] > units) {
            free.insert(blocks.split(part, units));
        }
        return part;
    }

    /** The block that begins at a unit and is handed out, or none. */
    int liveAt(long unit) {
        return live.get(unit);
    }

    /** The block around a unit that is handed out, or none. */
    int liveAround(long unit) {
        int row = live.lastUpTo(unit);
        return row != BlockTable.NONE && unit < blocks.end(row) ? row : BlockTable.NONE;
    }

    /** Blocks that are handed out. */
    int liveCount() {
        return live.count();
    }

    /**
     * Takes a block back that was handed out with memory.
     *
     * @return the free block that it is part of now
     */
    int release(int row) {
        live.remove(blocks.start[row]);
        return toFree(row);
    }

    /** A block that is on no list becomes free memory. */
    private int toFree(int row) {
        blocks.state[row] = BlockTable.FREE;
        int upper = blocks.above[row];
        if (upper != BlockTable.NONE && blocks.state[upper] == BlockTable.FREE) {
            free.remove(upper);
            blocks.join(row, upper);
        }
        int lower = blocks.below[row];
        int joined = row;
        if (lower != BlockTable.NONE && blocks.state[lower] == BlockTable.FREE) {
            free.remove(lower);
            blocks.join(lower, row);
            joined = lower;
        }
        free.insert(joined);
        if (blocks.isAlone(joined)) {
            wholeRegions++;
        }
        return joined;
    }

    /** Part of a hole gets memory and becomes free; the hole must hold all of it. */
    void fill(int hole, long start, int units) {
        toFree(cut(hole, start, units));
    }

    /** Part of a free block loses its memory. */
    void empty(int row, long start, int units) {
        toHole(carve(row, start - blocks.start[row], units));
    }

    /** Part of a hole is handed out as addresses. */
    int reserve(int hole, long start, int units, long requestedBytes) {
        int part = cut(hole, start, units);
        blocks.state[part] = BlockTable.RESERVED;
        blocks.requestedBytes[part] = requestedBytes;
        live.put(start, part);
        return part;
    }

    /** Takes addresses back that were handed out. */
    void unreserve(int row) {
        live.remove(blocks.start[row]);
        toHole(row);
    }

    private int cut(int row, long start, int units) {
        int part = start > blocks.start[row] ? blocks.split(row, (int) (start - blocks.start[row])) : row;
        if (blocks.size[part] > units) {
            blocks.split(part, units);
        }
        return part;
    }

    private void toHole(int row) {
        blocks.state[row] = BlockTable.HOLE;
        int upper = blocks.above[row];
        if (upper != BlockTable.NONE && blocks.state[upper] == BlockTable.HOLE) {
            blocks.join(row, upper);
        }
        int lower = blocks.below[row];
        if (lower != BlockTable.NONE && blocks.state[lower] == BlockTable.HOLE) {
            blocks.join(lower, row);
        }
    }

    /** The size of the largest free block in units. */
    int largestFree() {
        return free.largest();
    }
}
