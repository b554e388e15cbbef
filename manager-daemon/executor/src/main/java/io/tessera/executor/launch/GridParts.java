package io.tessera.executor.launch;

/**
 * Divides a grid into parts, one after the other. A part is a box of about as many blocks as requested: a piece of a row (x), some rows (y) or some planes (z).
 * All parts together are the grid. One owner thread.
 */
final class GridParts {
    private final long[] grid = new long[3];
    private final int[] first = new int[3];
    private final int[] size = new int[3];
    /** Blocks before the next part, x fastest. */
    private long done;
    private long total;

    /** Begins a grid of this many blocks in x, y and z, each above 0. */
    void begin(long x, long y, long z) {
        grid[0] = x;
        grid[1] = y;
        grid[2] = z;
        done = 0;
        total = x * y * z;
    }

    /** Returns the blocks of all remaining parts. */
    long left() {
        return total - done;
    }

    /**
     * Advances to the next part; there must be one.
     *
     * @param most maximum number of its blocks, above 0
     * @return the number of its blocks
     */
    long next(long most) {
        long row = grid[0];
        long plane = grid[0] * grid[1];
        first[0] = (int) (done % row);
        first[1] = (int) (done / row % grid[1]);
        first[2] = (int) (done / plane);
        if (first[0] != 0 || most < row) {
            box(Math.min(most, row - first[0]), 1, 1);
        } else if (first[1] != 0 || most < plane) {
            box(row, Math.min(most / row, grid[1] - first[1]), 1);
        } else {
            box(row, grid[1], Math.min(most / plane, grid[2] - first[2]));
        }
        long blocks = (long) size[0] * size[1] * size[2];
        done += blocks;
        return blocks;
    }

    private void box(long x, long y, long z) {
        size[0] = (int) x;
        size[1] = (int) y;
        size[2] = (int) z;
    }

    /** Returns the number of the part's first block in x (0), y (1) or z (2). */
    int first(int dimension) {
        return first[dimension];
    }

    /** Returns the number of blocks of the part in x (0), y (1) or z (2). */
    int size(int dimension) {
        return size[dimension];
    }

    /** Returns the number of blocks of the grid in x (0), y (1) or z (2); unsigned. */
    int grid(int dimension) {
        return (int) grid[dimension];
    }
}
