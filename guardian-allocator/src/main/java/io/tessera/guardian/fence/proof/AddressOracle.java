package io.tessera.guardian.fence.proof;

import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.ptx.PtxFunction;

/** Analyses functions. Implementations are stateless and may be used by any number of threads. */
@FunctionalInterface
public interface AddressOracle {
    /**
     * Returns the known facts about the addresses of a function, as it is before it is rewritten.
     *
     * @param function one with a body
     * @param module   the module that it belongs to
     */
    AddressFacts of(PtxFunction function, AnalysedModule module);
}
