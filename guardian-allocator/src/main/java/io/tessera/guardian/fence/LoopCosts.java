package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * What fencing adds to the loops of a function, each instruction as often as it may be run: a guess, by which bodies are compared. Immutable.
 *
 * @param added instructions that are added
 * @param all   instructions that there are
 * @param cuts  limits of counters that are cut before loops, each of which takes a register in its loop
 */
record LoopCosts(long added, long all, int cuts) {
    /** Instructions of a look at the stop word. */
    private static final long WATCH = 4;
    private static final long FENCE = 1;
    private static final int MOST_DEPTH = 5;

    /** Those of a function's body with these facts. */
    static LoopCosts of(LoopText text, AddressFacts facts) {
        Loops loops = new Loops(text, facts, true, false);
        long[] sums = new long[2];
        loops.inside((instruction, depth, weight) -> {
            long added = weight > 0 ? WATCH : 0;
            for (int i = 0; i < instruction.operands().size(); i++) {
                boolean floats = instruction.operands().get(i) instanceof Operand.Address
                        && facts.of(instruction, i).placement() instanceof Placement.FloatingBase;
                added += floats ? FENCE : 0;
            }
            sums[0] += times(added, depth);
            sums[1] += times(1, depth);
        });
        for (BaseFence fence : facts.baseFences()) {
            int depth = fence.trusted() ? 0 : loops.depth(fence.definition());
            sums[0] += depth == 0 ? 0 : times(FENCE, depth);
        }
        return new LoopCosts(sums[0], sums[1], facts.loopCuts().size());
    }

    private static long times(long instructions, int depth) {
        return instructions << 3 * Math.min(depth, MOST_DEPTH);
    }

    /** Takes instructions that are in loops. */
    interface Inside {
        /** An instruction that so many loops of the text enclose, at least one, and how much fuel it takes. */
        void take(Instruction instruction, int depth, int weight);
    }
}
