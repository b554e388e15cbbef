package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Optional;

/**
 * What of a function's analysis does not depend on what is known of launches: computed once, and analysed as often as there are launches
 * to look at. Immutable.
 *
 * @param function   the function
 * @param code       its instructions
 * @param flow       its blocks
 * @param dominators of its blocks
 * @param loops      its loops
 * @param ssa        its values
 * @param order      in which values are computed
 */
record FunctionGraph(PtxFunction function, FlatCode code, ControlFlow flow, Dominators dominators, Loops loops, Ssa ssa,
        PropagationOrder order) {
    /** Longer functions are not analysed: a bound on time and memory against made-up inputs. */
    private static final int MOST_INSTRUCTIONS = 400_000;

    /** Empty for code that is not understood, or too long. */
    static Optional<FunctionGraph> of(PtxFunction function, PtxModule module) {
        FlatCode code = FlatCode.of(function, module);
        if (!code.complete() || code.size() > MOST_INSTRUCTIONS) {
            return Optional.empty();
        }
        ControlFlow flow = ControlFlow.of(code);
        Dominators dominators = Dominators.of(flow);
        Ssa ssa = SsaBuilder.build(code, flow, dominators);
        return Optional.of(new FunctionGraph(function, code, flow, dominators, Loops.of(flow, dominators), ssa,
                new PropagationOrder(code, flow, ssa)));
    }
}
