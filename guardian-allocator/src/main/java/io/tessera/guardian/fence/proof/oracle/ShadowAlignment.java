package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.proof.graph.IntArray;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Alignment of shadows. Demands propagate back from accesses to fences: a fence may clear a bit only if every access through it needs that bit to be
 * 0. Proved alignments then propagate forward from the fences to the accesses. Not thread-safe.
 */
final class ShadowAlignment {
    /** The largest alignment that an access can demand. */
    static final int MOST = 32;

    private final ShadowPlan plan;
    private final int[] demands;
    private final int[] sure;
    private final BitSet needed = new BitSet();

    ShadowAlignment(ShadowPlan plan, int values) {
        this.plan = plan;
        demands = new int[values];
        sure = new int[values];
        Arrays.fill(demands, MOST);
        Arrays.fill(sure, MOST);
    }

    /** An access of that size is made from the shadow of a value, with that offset. */
    void demand(int value, int bytes, long offset) {
        IntArray work = new IntArray();
        lower(value, Math.min(bytes, divisor(offset)), work);
        while (!work.isEmpty()) {
            int at = work.removeLast();
            int kept = isSum(at)
                    ? Math.min(demands[at], multiple(plan.sums().of(at).amount())) : demands[at];
            for (int input : plan.inputs(at)) {
                lower(input, kept, work);
            }
        }
    }

    private boolean isSum(int value) {
        return plan.way(value) == ShadowPlan.Way.DERIVE || plan.way(value) == ShadowPlan.Way.REFENCE;
    }

    private void lower(int value, int to, IntArray work) {
        if (!needed.get(value) || to < demands[value]) {
            needed.set(value);
            demands[value] = Math.min(demands[value], to);
            work.add(value);
        }
    }

    /** Values whose shadows are needed. */
    BitSet needed() {
        return needed;
    }

    /** Returns the alignment that the fence of a value establishes. */
    int fenceAlignment(int value) {
        return demands[value];
    }

    /** Carries what is sure from the fences to all that is made from them. */
    void settle() {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int v = needed.nextSetBit(0); v >= 0; v = needed.nextSetBit(v + 1)) {
                int now = plan.way(v) == ShadowPlan.Way.FENCE ? demands[v] : MOST;
                for (int input : plan.inputs(v)) {
                    now = Math.min(now, sure[input]);
                }
                if (isSum(v)) {
                    now = Math.min(now, multiple(plan.sums().of(v).amount()));
                }
                changed |= now < sure[v];
                sure[v] = Math.min(sure[v], now);
            }
        }
    }

    /** Returns a divisor of the shadow of a value plus an offset. */
    int alignment(int value, long offset) {
        return Math.min(sure[value], divisor(offset));
    }

    /** The largest power of two, up to {@link #MOST}, that divides a number. */
    static int divisor(long number) {
        return number == 0 ? MOST : (int) Math.min(MOST, Long.lowestOneBit(number) & Long.MAX_VALUE);
    }

    static int multiple(AbstractValue amount) {
        return amount.zeros() >= 5 ? MOST : 1 << amount.zeros();
    }
}
