package io.tessera.guardian.heap;

import java.util.Arrays;

/**
 * The free blocks of a pool by size class, with a bit for each class that has any: two-level segregated fit (Masmano,
 * Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004). Sizes below 32 units
 * have a class each, above that a power of two has 32 classes, so blocks of a class differ by 3 % at most. Unlike the
 * original it looks for the best fit among the first blocks of a class, which costs little and wastes less.
 */
final class FreeLists {
    private static final int STEP_LOG2 = 5;
    private static final int STEPS = 1 << STEP_LOG2;
    private static final int LEVELS = 32 - STEP_LOG2;

    /** Number of blocks of a class that are compared before a larger class is tried. */
    private static final int LOOKED_AT = 16;

    private final BlockTable blocks;
    private final int[] heads = new int[LEVELS * STEPS];
    private final int[] steps = new int[LEVELS];
    private int levels;

    FreeLists(BlockTable blocks) {
        this.blocks = blocks;
        Arrays.fill(heads, BlockTable.NONE);
    }

    private static int classOf(int units) {
        if (units < STEPS) {
            return units;
        }
        int log2 = 31 - Integer.numberOfLeadingZeros(units);
        return (log2 - STEP_LOG2 + 1) * STEPS + ((units >>> log2 - STEP_LOG2) & STEPS - 1);
    }

    void insert(int row) {
        int list = classOf(blocks.size[row]);
        int head = heads[list];
        blocks.before[row] = BlockTable.NONE;
        blocks.after[row] = head;
        if (head != BlockTable.NONE) {
            blocks.before[head] = row;
        } else {
            steps[list >>> STEP_LOG2] |= 1 << list;
            levels |= 1 << (list >>> STEP_LOG2);
        }
        heads[list] = row;
    }

    void remove(int row) {
        int before = blocks.before[row];
        int after = blocks.after[row];
        if (after != BlockTable.NONE) {
            blocks.before[after] = before;
        }
        if (before != BlockTable.NONE) {
            blocks.after[before] = after;
            return;
        }
        int list = classOf(blocks.size[row]);
        heads[list] = after;
        if (after == BlockTable.NONE) {
            int level = list >>> STEP_LOG2;
            steps[level] &= ~(1 << list);
            if (steps[level] == 0) {
                levels &= ~(1 << level);
            }
        }
    }

    /** A free block of at least that size, nearly the smallest there is, or none; it stays in its list. */
    int find(int units) {
        int own = classOf(units);
        int found = smallest(heads[own], units, LOOKED_AT);
        if (found == BlockTable.NONE) {
            found = smallest(heads[nonEmptyAbove(own)], units, LOOKED_AT);
        }
        return found != BlockTable.NONE ? found : smallest(heads[own], units, Integer.MAX_VALUE);
    }

    /** The first class above another that has blocks; class 0, which never has any, if there is none. */
    private int nonEmptyAbove(int list) {
        int level = list >>> STEP_LOG2;
        int step = list & STEPS - 1;
        int found = step == STEPS - 1 ? 0 : steps[level] & -1 << step + 1;
        if (found == 0) {
            int rest = levels & -1 << level + 1;
            if (rest == 0) {
                return 0;
            }
            level = Integer.numberOfTrailingZeros(rest);
            found = steps[level];
        }
        return (level << STEP_LOG2) + Integer.numberOfTrailingZeros(found);
    }

    private int smallest(int head, int units, int lookedAt) {
        int best = BlockTable.NONE;
        int bestSize = Integer.MAX_VALUE;
        int left = lookedAt;
        for (int row = head; row != BlockTable.NONE && left > 0; row = blocks.after[row], left--) {
            int size = blocks.size[row];
            if (size >= units && size < bestSize) {
                best = row;
                bestSize = size;
                if (size == units) {
                    break;
                }
            }
        }
        return best;
    }

    /** The size of the largest free block, 0 if there is none. */
    int largest() {
        if (levels == 0) {
            return 0;
        }
        int level = 31 - Integer.numberOfLeadingZeros(levels);
        int list = (level << STEP_LOG2) + 31 - Integer.numberOfLeadingZeros(steps[level]);
        int largest = 0;
        for (int row = heads[list]; row != BlockTable.NONE; row = blocks.after[row]) {
            largest = Math.max(largest, blocks.size[row]);
        }
        return largest;
    }
}
