package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Optional;

/**
 * All that is computed once for a function and certain launches. Immutable but for {@link LoopRanges}, which narrows the states.
 *
 * @param graph       the function
 * @param bounds      of what launches give
 * @param propagation what each value may be
 */
record FunctionAnalysis(FunctionGraph graph, LaunchBounds bounds, Propagation propagation) {
    /**
     * Empty for code that is not understood, or too long.
     *
     * @param shape what is known of a kernel's launches, or null
     */
    static Optional<FunctionAnalysis> of(PtxFunction function, PtxModule module, LaunchShape shape) {
        return FunctionGraph.of(function, module).map(graph -> of(graph, LaunchBounds.of(graph, shape)));
    }

    /** The analysis for launches within bounds. */
    static FunctionAnalysis of(FunctionGraph graph, LaunchBounds bounds) {
        return new FunctionAnalysis(graph, bounds, Propagation.run(graph, bounds));
    }

    /** The analysis of the same function for fewer launches, where this one is for all. */
    FunctionAnalysis within(LaunchBounds fewer) {
        return new FunctionAnalysis(graph, fewer, Propagation.run(graph, fewer, propagation));
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
        return new Transfer(graph.code(), graph.ssa(), bounds, states());
    }
}
