package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Map;

/**
 * Proves facts by a data-flow analysis of the whole function: see {@code PROOFS.md} beside this package's sources. What it does
 * not understand it leaves to {@link SyntacticOracle}. Immutable.
 */
public final class DataFlowOracle implements AddressOracle {
    private static final AddressOracle PLAIN = new SyntacticOracle();

    private final Map<String, LaunchShape> shapes;

    /** Proves what holds for all launches. */
    public DataFlowOracle() {
        this(Map.of());
    }

    /**
     * Proves what holds for launches of known shapes.
     *
     * @param shapes by kernel; of a kernel that is not among them, all launches
     */
    public DataFlowOracle(Map<String, LaunchShape> shapes) {
        this.shapes = Map.copyOf(shapes);
    }

    @Override
    public AddressFacts of(PtxFunction function, PtxModule module) {
        return FunctionAnalysis.of(function, module, shapes.get(function.name())).<AddressFacts>map(ProvedFacts::new)
                .orElseGet(() -> PLAIN.of(function, module));
    }
}
