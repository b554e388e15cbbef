package io.tessera.guardian.fence.proof.loop;

import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntervalArithmetic;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Ranges of numbers and addresses that a loop moves by a constant step, derived from the loop's iteration count: a counter from 64 by 128 that is not
 * 4160 is 4032 at most, which does not follow from its comparison alone. Stateless.
 */
public final class CountedRanges {
    private static final long MOST_ROUNDS = 1L << 24;
    private static final long LARGEST_STEP = 1L << 30;

    private CountedRanges() {
    }

    /** Returns the analysis of a function with these ranges. */
    public static FunctionAnalysis of(FunctionAnalysis of) {
        Induction induction = new Induction(of);
        Map<Integer, AbstractValue> known = new HashMap<>();
        Map<LoopForest.Loop, Long> rounds = new IdentityHashMap<>();
        for (int value = 0; value < of.ssa().values(); value++) {
            LoopForest.Loop loop = of.ssa().kind(value) == SsaKind.PHI ? of.loops().at(of.ssa().block(value)) : null;
            if (loop != null) {
                AbstractValue range = range(of, induction, loop, value, rounds.computeIfAbsent(loop, induction::uncutRounds));
                if (range != null) {
                    known.put(value, range);
                }
            }
        }
        return of.narrowed(known);
    }

    private static AbstractValue range(FunctionAnalysis of, Induction induction, LoopForest.Loop loop, int phi, long rounds) {
        Ssa ssa = of.ssa();
        AbstractValue step = rounds >= MOST_ROUNDS || ssa.bits(phi) < Integer.SIZE || ssa.isUnstable(phi) ? null : induction.step(phi, loop);
        AbstractValue entry = step == null ? null : induction.entry(phi, loop);
        if (entry == null || !step.isConstant() || !entry.bounded() || Math.abs(step.low()) > LARGEST_STEP) {
            return null;
        }
        long far = step.low() * rounds;
        AbstractValue moved = AbstractValue.between(Math.min(0, far), Math.max(0, far)).withZeros(step.zeros());
        AbstractValue range = IntervalArithmetic.add(entry, moved).in(ssa.bits(phi));
        AbstractValue before = of.states()[phi];
        boolean narrower = range.bounded()
                && (!before.bounded() || before.sameBase(range) && range.low() >= before.low() && range.high() <= before.high()
                        && !range.equals(before));
        return narrower ? range : null;
    }
}
