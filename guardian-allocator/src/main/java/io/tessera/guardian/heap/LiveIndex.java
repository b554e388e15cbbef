package io.tessera.guardian.heap;

import java.util.Arrays;

/**
 * Index of allocated blocks by start: a hash table with open addressing. A bit per unit marks the units at which a block begins, to find the block
 * around an address.
 */
final class LiveIndex {
    private static final int FIRST_SLOTS = 256;
    private static final int PAGE_LOG2 = 13;
    private static final int PAGE_WORDS = 1 << PAGE_LOG2 - 6;
    private static final long EMPTY = -1;

    /** 2^64 divided by the golden ratio: spreads multiples of any power of two. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final int pagesBack;
    private long[] keys = emptyKeys(FIRST_SLOTS);
    private int[] rows = new int[FIRST_SLOTS];
    private int shift = 64 - Integer.numberOfTrailingZeros(FIRST_SLOTS);
    private int count;

    /** A page is there while a block begins in it, or did. */
    private long[][] starts = new long[4][];

    /** @param largestUnits no block is larger */
    LiveIndex(int largestUnits) {
        pagesBack = (largestUnits >>> PAGE_LOG2) + 1;
    }

    private static long[] emptyKeys(int slots) {
        long[] keys = new long[slots];
        Arrays.fill(keys, EMPTY);
        return keys;
    }

    int count() {
        return count;
    }

    private int slot(long unit) {
        return (int) (unit * SPREAD >>> shift);
    }

    void put(long unit, int row) {
        if (2 * ++count > keys.length) {
            grow();
        }
        insert(unit, row);
        int page = (int) (unit >>> PAGE_LOG2);
        if (page >= starts.length) {
            starts = Arrays.copyOf(starts, Math.max(page + 1, 2 * starts.length));
        }
        if (starts[page] == null) {
            starts[page] = new long[PAGE_WORDS];
        }
        starts[page][(int) (unit >>> 6) & PAGE_WORDS - 1] |= 1L << unit;
    }

    private void insert(long unit, int row) {
        int slot = slot(unit);
        while (keys[slot] != EMPTY) {
            slot = slot + 1 & keys.length - 1;
        }
        keys[slot] = unit;
        rows[slot] = row;
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldRows = rows;
        keys = emptyKeys(2 * oldKeys.length);
        rows = new int[keys.length];
        shift--;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != EMPTY) {
                insert(oldKeys[i], oldRows[i]);
            }
        }
    }

    /** The block that begins at a unit, or {@link BlockTable#NONE}. */
    int get(long unit) {
        for (int slot = slot(unit);; slot = slot + 1 & keys.length - 1) {
            if (keys[slot] == unit) {
                return rows[slot];
            }
            if (keys[slot] == EMPTY) {
                return BlockTable.NONE;
            }
        }
    }

    /** Forgets a block that begins at a unit; it must be there. */
    void remove(long unit) {
        int mask = keys.length - 1;
        int hole = slot(unit);
        while (keys[hole] != unit) {
            hole = hole + 1 & mask;
        }
        // An entry that was pushed past the hole by a collision moves back into it, so that no search ends early.
        for (int next = hole + 1 & mask; keys[next] != EMPTY; next = next + 1 & mask) {
            if ((next - slot(keys[next]) & mask) >= (next - hole & mask)) {
                keys[hole] = keys[next];
                rows[hole] = rows[next];
                hole = next;
            }
        }
        keys[hole] = EMPTY;
        count--;
        starts[(int) (unit >>> PAGE_LOG2)][(int) (unit >>> 6) & PAGE_WORDS - 1] &= ~(1L << unit);
    }

    /** The last block that begins at or below a unit, as far as a block can reach up to it, or none. */
    int lastUpTo(long unit) {
        int page = (int) (unit >>> PAGE_LOG2);
        int word = (int) (unit >>> 6) & PAGE_WORDS - 1;
        long seen = -1L >>> 63 - (unit & 63);
        for (int back = 0; back <= pagesBack && page >= 0; back++, page--) {
            long[] bits = page < starts.length ? starts[page] : null;
            for (; bits != null && word >= 0; word--) {
                long found = bits[word] & seen;
                if (found != 0) {
                    long key = ((long) page << PAGE_LOG2) + (word << 6) + 63 - Long.numberOfLeadingZeros(found);
                    return get(key);
                }
                seen = -1L;
            }
            word = PAGE_WORDS - 1;
            seen = -1L;
        }
        return BlockTable.NONE;
    }
}
