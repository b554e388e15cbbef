package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Map;
import java.util.Optional;

/**
 * What could be proved of a kernel if its launches were limited: to see for which launches a second body is worth writing. What does not
 * depend on the launch is computed once. Nothing may rest on what {@code of} says here of limited launches: of the body that is written,
 * facts are proved anew. What {@link #keeping} says may be used. Not thread-safe.
 */
public final class LaunchTrials {
    private final PtxFunction kernel;
    private final PtxModule module;
    private final Optional<FunctionGraph> graph;
    private FunctionAnalysis reached;
    private AddressFacts unlimited;

    /**
     * Of a kernel with a body.
     *
     * @param kernel the kernel
     * @param module the module that it belongs to
     */
    public LaunchTrials(PtxFunction kernel, PtxModule module) {
        this.kernel = kernel;
        this.module = module;
        graph = FunctionGraph.of(kernel, module);
    }

    /** What holds for all launches, as {@link DataFlowOracle} says it: this may be used. Computed once. */
    public AddressFacts unlimited() {
        if (unlimited == null) {
            unlimited = graph.map(this::reached).<AddressFacts>map(ProvedFacts::new).orElseGet(() -> new SyntacticOracle().of(kernel, module));
        }
        return unlimited;
    }

    private FunctionAnalysis reached(FunctionGraph function) {
        reached = FunctionAnalysis.of(function, LaunchBounds.of(function, (LaunchShape) null));
        return reached;
    }

    /** What would hold if all launches were of a shape. */
    public AddressFacts of(LaunchShape shape) {
        AddressFacts plain = unlimited();
        return graph.map(function -> facts(LaunchBounds.of(function, shape))).orElse(plain);
    }

    /**
     * What would hold if some instructions read no more than a number.
     *
     * @param most the greatest number without sign, at least 0, by instructions of the kernel, which are told apart by identity
     */
    public AddressFacts of(Map<Instruction, Long> most) {
        AddressFacts plain = unlimited();
        return graph.map(function -> facts(LaunchBounds.of(function, most))).orElse(plain);
    }

    /**
     * What holds, of the kernel's own instructions, for launches that keep a promise; empty for code that is not understood. Where numbers are
     * promised all is computed anew.
     */
    public Optional<AddressFacts> keeping(LaunchPromise promise) {
        if (graph.isEmpty()) {
            return Optional.empty();
        }
        unlimited();
        LaunchBounds bounds = LaunchBounds.of(graph.get(), promise);
        return Optional.of(new ProvedFacts(promise.most().isEmpty() ? reached.within(bounds) : FunctionAnalysis.of(graph.get(), bounds)));
    }

    private AddressFacts facts(LaunchBounds bounds) {
        return new ProvedFacts(reached.within(bounds));
    }
}
