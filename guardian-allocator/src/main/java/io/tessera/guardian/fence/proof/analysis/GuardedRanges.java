package io.tessera.guardian.fence.proof.analysis;

import io.tessera.guardian.fence.proof.graph.IntArray;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import java.util.HashMap;
import java.util.Map;

/**
 * What a value may be at a place where conditions on every way there say more of what it was made from: where a thread's number is at
 * least 4, what was 16 bytes a thread before is behind the start. A condition above the place was of the same values: whatever way leads
 * from where a value is made to the place passes all that is made of it and stands above the place. Not thread-safe.
 */
public final class GuardedRanges {
    /** How far back a value is followed. */
    private static final int LONGEST_CHAIN = 6;
    /** Values that are looked at for one question. */
    private static final int MOST_VALUES = 64;

    private final FunctionAnalysis of;
    private final Ssa ssa;
    /** Refined values by their origin. */
    private final Map<Integer, IntArray> refined = new HashMap<>();
    /** The states, but for those of the question that is being answered. */
    private final AbstractValue[] there;
    private final Transfer transfer;
    private final IntArray asked = new IntArray();

    /** Over the states as they are now. */
    public GuardedRanges(FunctionAnalysis of) {
        this.of = of;
        ssa = of.ssa();
        there = of.states().clone();
        transfer = new Transfer(of.code(), ssa, of.special(), there);
        for (int v = 0; v < ssa.values(); v++) {
            if (ssa.kind(v) == SsaKind.REFINED && !ssa.isUnstable(v)) {
                refined.computeIfAbsent(ssa.origin(v), _ -> new IntArray()).add(v);
            }
        }
    }

    /** What a value may be where a block uses it. */
    public AbstractValue at(int value, int block) {
        look(value, block, LONGEST_CHAIN);
        AbstractValue found = there[value];
        while (!asked.isEmpty()) {
            int changed = asked.removeLast();
            there[changed] = of.states()[changed];
        }
        return found;
    }

    private void look(int value, int block, int depth) {
        if (depth == 0 || asked.size() >= MOST_VALUES || ssa.isUnstable(value) || contains(value)) {
            return;
        }
        asked.add(value);
        AbstractValue known = of.states()[value];
        IntArray conditions = refined.get(ssa.origin(value));
        for (int i = 0; conditions != null && i < conditions.size(); i++) {
            if (of.dominators().dominates(ssa.block(conditions.get(i)), block)) {
                known = narrower(known, of.states()[conditions.get(i)]);
            }
        }
        if (ssa.kind(value) == SsaKind.REFINED) {
            look(ssa.inputs(value)[0], block, depth - 1);
            known = narrower(known, there[ssa.inputs(value)[0]]);
        } else if (ssa.kind(value) == SsaKind.RESULT) {
            int made = ssa.instruction(value);
            for (int input : ssa.uses(made)) {
                if (input != Ssa.NONE) {
                    look(input, block, depth - 1);
                }
            }
            AbstractValue now = transfer.result(made, value);
            known = now == null ? known : narrower(known, now);
        }
        there[value] = known;
    }

    private boolean contains(int value) {
        for (int i = 0; i < asked.size(); i++) {
            if (asked.get(i) == value) {
                return true;
            }
        }
        return false;
    }

    /** The one that says more. Not what is in both: numbers that are the same modulo a register's size may stand in other bounds. */
    private static AbstractValue narrower(AbstractValue a, AbstractValue b) {
        boolean comparable = a.sameBase(b) || a.variable() == null && !a.bounded();
        return comparable && b.bounded() && (!a.bounded() || b.high() - b.low() < a.high() - a.low()) ? b : a;
    }
}
