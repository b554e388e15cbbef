package io.tessera.guardian.window;

import java.util.BitSet;

/**
 * The free units of an address range, and where a buddy system would place a block in it. Units are numbered from the start of the range; alignment
 * counts from address zero.
 */
final class FreeUnits {
    private final long firstUnit;
    private final int count;
    private final BitSet taken = new BitSet();

    /**
     * @param firstUnit the range's start in units from address zero
     * @param count     units of the range, all free
     */
    FreeUnits(long firstUnit, int count) {
        this.firstUnit = firstUnit;
        this.count = count;
    }

    int count() {
        return count;
    }

    boolean isFree(int from, int units) {
        int next = taken.nextSetBit(from);
        return next < 0 || next >= from + units;
    }

    void take(int from, int units) {
        taken.set(from, from + units);
    }

    void give(int from, int units) {
        taken.clear(from, from + units);
    }

    /**
     * Returns the best place for a block that is aligned to its size, with guards on both sides. The smallest free run that fits is used, because
     * that leaves the larger ones whole. Within a run, the place that cuts off the smallest part is used, and the lowest of equals.
     *
     * @param units a power of two
     * @return its start, without its guard, or -1
     */
    int place(int units, int guard) {
        int best = -1;
        int bestRun = Integer.MAX_VALUE;
        int bestRest = Integer.MAX_VALUE;
        int from = taken.nextClearBit(0);
        while (from < count) {
            int next = taken.nextSetBit(from);
            int end = next < 0 || next > count ? count : next;
            for (int at = aligned(from + guard, units); at + units + guard <= end; at += units) {
                int rest = Math.min(at - guard - from, end - at - units - guard);
                if (end - from < bestRun || end - from == bestRun && rest < bestRest) {
                    best = at;
                    bestRun = end - from;
                    bestRest = rest;
                }
            }
            from = taken.nextClearBit(end);
        }
        return best;
    }

    private int aligned(int unit, int units) {
        long absolute = firstUnit + unit;
        long up = (absolute + units - 1) & -(long) units;
        return (int) (up - firstUnit);
    }
}
