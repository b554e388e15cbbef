package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.fence.proof.loop.CountedRanges;
import io.tessera.guardian.ptx.PtxFunction;

/**
 * Proves facts by a data-flow analysis of the whole function: see {@code PROOFS.md} beside this package's sources. What it does
 * not understand it leaves to {@link SyntacticOracle}. Immutable.
 */
public final class DataFlowOracle implements AddressOracle {
    private static final AddressOracle PLAIN = new SyntacticOracle();

    @Override
    public AddressFacts of(PtxFunction function, AnalysedModule module) {
        return FunctionAnalysis.of(function, module).<AddressFacts>map(of -> new ProvedFacts(of, CountedRanges.of(of)))
                .orElseGet(() -> PLAIN.of(function, module));
    }
}
