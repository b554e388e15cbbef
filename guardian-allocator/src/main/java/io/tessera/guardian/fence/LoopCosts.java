package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.DataFlowOracle;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;

/** What fencing adds to the loops of a function: a guess, by which bodies are compared. Stateless. */
final class LoopCosts {
    /** Instructions of a look at the stop word. */
    private static final long WATCH = 4;
    private static final long FENCE = 1;
    private static final int MOST_DEPTH = 5;

    private LoopCosts() {
    }

    /** Instructions that are added to loops, each as often as it may be run. */
    static long of(PtxFunction function, PtxModule module) {
        AddressFacts facts = new DataFlowOracle().of(function, module);
        Loops loops = new Loops(function.body().orElseThrow(), facts);
        long[] cost = new long[1];
        loops.inside((instruction, depth) -> {
            long added = loops.weight(instruction) > 0 ? WATCH : 0;
            for (int i = 0; i < instruction.operands().size(); i++) {
                boolean floats = instruction.operands().get(i) instanceof Operand.Address
                        && facts.of(instruction, i).placement() instanceof Placement.FloatingBase;
                added += floats ? FENCE : 0;
            }
            cost[0] += added << 3 * Math.min(depth, MOST_DEPTH);
        });
        for (BaseFence fence : facts.baseFences()) {
            int depth = fence.trusted() ? 0 : loops.depth(fence.definition());
            cost[0] += depth == 0 ? 0 : FENCE << 3 * Math.min(depth, MOST_DEPTH);
        }
        return cost[0];
    }

    /** Takes instructions that are in loops. */
    interface Inside {
        /** An instruction that so many loops of the text enclose, at least one. */
        void take(Instruction instruction, int depth);
    }
}
