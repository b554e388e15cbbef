package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Optional;

/**
 * All that is computed once for a function. Immutable.
 *
 * @param function   the function
 * @param code       its instructions
 * @param flow       its blocks
 * @param dominators of its blocks
 * @param loops      its loops
 * @param ssa        its values
 * @param states     what each value may be
 * @param special    bounds of special registers
 */
record FunctionAnalysis(PtxFunction function, FlatCode code, ControlFlow flow, Dominators dominators, Loops loops,
        Ssa ssa, AbstractValue[] states, SpecialBounds special) {
    /** Longer functions are not analysed: a bound on time and memory against made-up inputs. */
    private static final int MOST_INSTRUCTIONS = 400_000;

    /**
     * Empty for code that is not understood, or too long.
     *
     * @param shape what is known of a kernel's launches, or null
     */
    static Optional<FunctionAnalysis> of(PtxFunction function, PtxModule module, LaunchShape shape) {
        FlatCode code = FlatCode.of(function, module);
        if (!code.complete() || code.size() > MOST_INSTRUCTIONS) {
            return Optional.empty();
        }
        ControlFlow flow = ControlFlow.of(code);
        Dominators dominators = Dominators.of(flow);
        Ssa ssa = SsaBuilder.build(code, flow, dominators);
        SpecialBounds special = SpecialBounds.of(function, shape);
        AbstractValue[] states = Propagation.run(code, flow, ssa, special);
        return Optional.of(new FunctionAnalysis(function, code, flow, dominators, Loops.of(flow, dominators), ssa,
                states, special));
    }
}
