package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Map;

/**
 * Facts of functions that were analysed already, and another oracle for the rest. Immutable.
 *
 * @param known by function (by identity), of the module that is asked about
 * @param rest  for the others
 */
record KnownFacts(Map<PtxFunction, AddressFacts> known, AddressOracle rest) implements AddressOracle {
    @Override
    public AddressFacts of(PtxFunction function, PtxModule module) {
        AddressFacts facts = known.get(function);
        return facts == null ? rest.of(function, module) : facts;
    }
}
