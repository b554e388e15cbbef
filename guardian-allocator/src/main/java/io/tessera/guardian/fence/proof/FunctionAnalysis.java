package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Optional;

/**
 * All that is computed once for a function. Immutable but for {@link LoopRanges}, which narrows the states.
 *
 * @param graph       the function
 * @param special     bounds of special registers
 * @param propagation what each value may be
 */
record FunctionAnalysis(FunctionGraph graph, SpecialBounds special, Propagation propagation) {
    /** Empty for code that is not understood, or too long. */
    static Optional<FunctionAnalysis> of(PtxFunction function, PtxModule module) {
        return FunctionGraph.of(function, module).map(FunctionAnalysis::of);
    }

    private static FunctionAnalysis of(FunctionGraph graph) {
        SpecialBounds special = SpecialBounds.of(graph.function(), graph.countsClusters());
        return new FunctionAnalysis(graph, special, Propagation.run(graph, special));
    }

    PtxFunction function() {
        return graph.function();
    }

    FlatCode code() {
        return graph.code();
    }

    ControlFlow flow() {
        return graph.flow();
    }

    Dominators dominators() {
        return graph.dominators();
    }

    Loops loops() {
        return graph.loops();
    }

    Ssa ssa() {
        return graph.ssa();
    }

    /** What each value may be. */
    AbstractValue[] states() {
        return propagation.states();
    }

    /** What instructions compute, on the states as they are when it is asked. */
    Transfer transfer() {
        return new Transfer(graph.code(), graph.ssa(), special, states());
    }
}
