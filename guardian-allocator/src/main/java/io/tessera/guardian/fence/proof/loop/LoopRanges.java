package io.tessera.guardian.fence.proof.loop;

import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.Loops;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.Offsets;
import io.tessera.guardian.fence.proof.value.TripCount;

/**
 * Bounds what a loop's head holds by where it starts, what a round adds, and how many rounds there can be: pointers and indices that
 * are never compared are bounded this way. Then carries that on. Stateless.
 */
public final class LoopRanges {
    private static final int SWEEPS = 2;

    private LoopRanges() {
    }

    /** Narrows the states of an analysis, in place. */
    public static void narrow(FunctionAnalysis of, Induction induction) {
        Ssa ssa = of.ssa();
        AbstractValue[] known = new AbstractValue[ssa.values()];
        boolean any = false;
        for (int v = 0; v < known.length; v++) {
            Loops.Loop loop = ssa.kind(v) == SsaKind.PHI && ssa.isUsed(v) ? of.loops().at(ssa.block(v)) : null;
            if (loop != null && ssa.bits(v) >= 16 && !ssa.isUnstable(v)) {
                known[v] = range(v, loop, induction);
                any |= known[v] != null;
            }
        }
        if (any) {
            of.propagation().narrow(known, SWEEPS);
        }
    }

    private static AbstractValue range(int phi, Loops.Loop loop, Induction induction) {
        long rounds = induction.rounds(loop);
        AbstractValue entry = induction.entry(phi, loop);
        AbstractValue step = rounds == TripCount.UNBOUNDED || !entry.bounded() ? null : induction.step(phi, loop);
        if (step == null || !step.bounded()) {
            return null;
        }
        Offsets reach = new Offsets(entry.low(), entry.high()).drifting(step, rounds);
        int zeros = Math.min(entry.zeros(), step.zeros());
        AbstractValue range = AbstractValue.of(entry.variable(), entry.generic(), reach.low(), reach.high(), zeros);
        return range.bounded() ? range : null;
    }
}
