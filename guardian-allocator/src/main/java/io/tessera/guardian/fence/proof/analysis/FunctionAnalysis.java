package io.tessera.guardian.fence.proof.analysis;

import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.fence.proof.graph.ControlFlow;
import io.tessera.guardian.fence.proof.graph.Dominators;
import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.FunctionGraph;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.SpecialBounds;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.Map;
import java.util.Optional;

/**
 * The results that are computed once for a function. They must not be changed, including the array.
 *
 * @param graph   the function
 * @param special bounds of special registers
 * @param states  abstract state of each value
 */
public record FunctionAnalysis(FunctionGraph graph, SpecialBounds special, AbstractValue[] states) {
    /** Empty for code that is not understood, or too long. */
    public static Optional<FunctionAnalysis> of(PtxFunction function, AnalysedModule module) {
        return FunctionGraph.of(function, module).map(FunctionAnalysis::of);
    }

    private static FunctionAnalysis of(FunctionGraph graph) {
        SpecialBounds special = SpecialBounds.of(graph.function(), graph.countsClusters());
        return new FunctionAnalysis(graph, special, Propagation.run(graph, special));
    }

    /** As above, with states of some values that are known from another source. */
    public FunctionAnalysis narrowed(Map<Integer, AbstractValue> known) {
        return known.isEmpty() ? this : new FunctionAnalysis(graph, special, Propagation.narrow(graph, special, states, known));
    }

    PtxFunction function() {
        return graph.function();
    }

    /** Its instructions. */
    public FlatCode code() {
        return graph.code();
    }

    /** Its blocks. */
    public ControlFlow flow() {
        return graph.flow();
    }

    /** Returns the dominance relation of its blocks. */
    public Dominators dominators() {
        return graph.dominators();
    }

    /** Its natural loops. */
    public LoopForest loops() {
        return graph.loops();
    }

    /** Its values. */
    public Ssa ssa() {
        return graph.ssa();
    }

    /** Returns the transfer functions of its instructions. */
    public Transfer transfer() {
        return new Transfer(graph.code(), graph.ssa(), special, states);
    }
}
