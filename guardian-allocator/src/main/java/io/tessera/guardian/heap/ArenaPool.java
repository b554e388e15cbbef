package io.tessera.guardian.heap;

/**
 * Small allocations: cells of 256 bytes in arenas of 2 MiB, which are blocks of the range. Arenas keep small, long-lived allocations from fragmenting
 * the space between large ones. An empty arena goes back to the range. One empty arena is kept, so that a program that allocates and frees at the
 * border of an arena costs nothing.
 */
final class ArenaPool {
    private static final int CELLS_PER_SPAN_LOG2 = HeapSettings.SPAN_LOG2 - HeapSettings.CELL_LOG2;
    private static final int PAGES_PER_SPAN_LOG2 = HeapSettings.SPAN_LOG2 - HeapSettings.PAGE_LOG2;
    private static final int CELLS = 1 << CELLS_PER_SPAN_LOG2;
    private static final int PAGES = 1 << PAGES_PER_SPAN_LOG2;

    final BlockPool pool = new BlockPool(HeapSettings.CELL_LOG2, CELLS);
    private final PageHeap pages;

    /** Indexed by span of the range: true if the span is an arena. */
    private final boolean[] arenas;

    ArenaPool(PageHeap pages, long rangeBytes) {
        this.pages = pages;
        this.arenas = new boolean[(int) (rangeBytes >>> HeapSettings.SPAN_LOG2)];
    }

    /** Returns whether an offset of the range lies in an arena. */
    boolean holds(long offset) {
        return arenas[(int) (offset >>> HeapSettings.SPAN_LOG2)];
    }

    /** Hands cells out of the arenas that there are; {@link BlockTable#NONE} if none of them has room. */
    int allocate(int cells, int alignCells, long requestedBytes) {
        return pool.allocate(cells, alignCells, requestedBytes);
    }

    /**
     * Adds an arena.
     *
     * @return 0, or the code of a refusal
     */
    long addArena() {
        long row = pages.allocate(PAGES, PAGES, 0);
        if (row < 0) {
            return row;
        }
        long span = pages.pool.blocks.start[(int) row] >>> PAGES_PER_SPAN_LOG2;
        arenas[(int) span] = true;
        pool.addRegion(span << CELLS_PER_SPAN_LOG2, CELLS, BlockTable.FREE);
        return 0;
    }

    void release(int row) {
        int joined = pool.release(row);
        if (pool.wholeRegions() > 1 && pool.blocks.isAlone(joined)) {
            remove(joined);
        }
    }

    private void remove(int row) {
        long span = pool.blocks.start[row] >>> CELLS_PER_SPAN_LOG2;
        pool.removeRegion(row);
        arenas[(int) span] = false;
        pages.release(pages.pool.liveAt(span << PAGES_PER_SPAN_LOG2));
    }

    /** The bytes of empty arenas. */
    long spareBytes() {
        return (long) pool.wholeRegions() << HeapSettings.SPAN_LOG2;
    }

    /** Gives the arena back that is kept empty. */
    boolean removeSpare() {
        boolean spare = pool.wholeRegions() > 0;
        if (spare) {
            remove(pool.wholeRegion(CELLS));
        }
        return spare;
    }
}
