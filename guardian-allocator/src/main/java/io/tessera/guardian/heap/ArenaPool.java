package io.tessera.guardian.heap;

/**
 * Allocations of less than whole spans: cells of 256 bytes in arenas, which are spans of the range. An arena that is
 * empty goes back to the range; one is kept, so that a program that allocates and frees at the border of an arena costs
 * nothing.
 */
final class ArenaPool {
    private static final int CELLS_PER_SPAN_LOG2 = HeapSettings.SPAN_LOG2 - HeapSettings.CELL_LOG2;

    final BlockPool pool;
    private final SpanHeap spans;
    private final byte[] kinds;
    private final byte kind;
    private final int arenaUnits;

    /**
     * @param kinds      the kind of each span of the range, by number; this pool writes its own there
     * @param arenaUnits spans of an arena
     */
    ArenaPool(SpanHeap spans, byte[] kinds, byte kind, int arenaUnits) {
        this.spans = spans;
        this.kinds = kinds;
        this.kind = kind;
        this.arenaUnits = arenaUnits;
        this.pool = new BlockPool(HeapSettings.CELL_LOG2, arenaUnits << CELLS_PER_SPAN_LOG2);
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
        long span = spans.allocate(arenaUnits, 1, 0);
        if (span < 0) {
            return span;
        }
        long start = spans.pool.blocks.start[(int) span];
        mark(start, kind);
        pool.addRegion(start << CELLS_PER_SPAN_LOG2, arenaUnits << CELLS_PER_SPAN_LOG2, BlockTable.FREE);
        return 0;
    }

    private void mark(long firstSpan, byte value) {
        for (int i = 0; i < arenaUnits; i++) {
            kinds[(int) firstSpan + i] = value;
        }
    }

    void release(int row) {
        int joined = pool.release(row);
        if (pool.wholeRegions() > 1 && pool.blocks.isAlone(joined)) {
            remove(joined);
        }
    }

    private void remove(int row) {
        long firstSpan = pool.blocks.start[row] >>> CELLS_PER_SPAN_LOG2;
        pool.removeRegion(row);
        mark(firstSpan, WindowHeap.SPANS);
        spans.release(spans.pool.liveAt(firstSpan));
    }

    /** Of arenas that are empty. */
    long spareBytes() {
        return (long) pool.wholeRegions() * arenaUnits << HeapSettings.SPAN_LOG2;
    }

    /** Gives the arena back that is kept empty. */
    boolean removeSpare() {
        boolean spare = pool.wholeRegions() > 0;
        if (spare) {
            remove(pool.wholeRegion(arenaUnits << CELLS_PER_SPAN_LOG2));
        }
        return spare;
    }

}
