package io.tessera.guardian.heap;

import java.util.Arrays;

/**
 * The blocks of a pool, one row each, in columns of primitives. A row's number stays the same as long as the block
 * lives. Starts and sizes are in the pool's units. Blocks that touch are linked in the order of their addresses; a chain
 * ends where a region of the pool ends.
 */
final class BlockTable {
    /** End of a chain or list; not a block. */
    static final int NONE = -1;

    /** Physical memory that is not allocated. */
    static final byte FREE = 1;

    /** Handed out. */
    static final byte USED = 2;

    /** Addresses without memory that this heap committed, not allocated. */
    static final byte HOLE = 3;

    /** Addresses without memory that this heap committed, allocated. */
    static final byte RESERVED = 4;

    private static final byte UNUSED = 0;
    private static final int FIRST_ROWS = 64;

    long[] start = new long[FIRST_ROWS];
    int[] size = new int[FIRST_ROWS];
    byte[] state = new byte[FIRST_ROWS];

    /** Requested size in bytes, for used and reserved blocks. */
    long[] requestedBytes = new long[FIRST_ROWS];

    /** Neighbours by address. */
    int[] below = new int[FIRST_ROWS];
    int[] above = new int[FIRST_ROWS];

    /** Neighbours in the list of free blocks of a class; {@link #after} also links the rows that are not used. */
    int[] before = new int[FIRST_ROWS];
    int[] after = new int[FIRST_ROWS];

    private int unusedRow = NONE;
    private int rows;

    /** A new block without neighbours. */
    int create(long at, int units, byte kind) {
        int row = unusedRow;
        if (row != NONE) {
            unusedRow = after[row];
        } else {
            if (rows == start.length) {
                grow();
            }
            row = rows++;
        }
        start[row] = at;
        size[row] = units;
        state[row] = kind;
        below[row] = NONE;
        above[row] = NONE;
        return row;
    }

    /** The row may be used again. */
    void remove(int row) {
        state[row] = UNUSED;
        after[row] = unusedRow;
        unusedRow = row;
    }

    long end(int row) {
        return start[row] + size[row];
    }

    /**
     * Makes the upper part of a block a block of its own, of the same kind.
     *
     * @param units of the lower part, which keeps the row; less than the block has
     * @return the upper part
     */
    int split(int row, int units) {
        int upper = create(start[row] + units, size[row] - units, state[row]);
        size[row] = units;
        below[upper] = row;
        above[upper] = above[row];
        if (above[row] != NONE) {
            below[above[row]] = upper;
        }
        above[row] = upper;
        return upper;
    }

    /** Merges a block into the one below it. */
    void join(int lower, int upper) {
        size[lower] += size[upper];
        above[lower] = above[upper];
        if (above[upper] != NONE) {
            below[above[upper]] = lower;
        }
        remove(upper);
    }

    /** Returns whether the block is a whole region. */
    boolean isAlone(int row) {
        return below[row] == NONE && above[row] == NONE;
    }

    private void grow() {
        int length = start.length * 2;
        start = Arrays.copyOf(start, length);
        size = Arrays.copyOf(size, length);
        state = Arrays.copyOf(state, length);
        requestedBytes = Arrays.copyOf(requestedBytes, length);
        below = Arrays.copyOf(below, length);
        above = Arrays.copyOf(above, length);
        before = Arrays.copyOf(before, length);
        after = Arrays.copyOf(after, length);
    }
}
