package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.Derivation;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import java.util.List;
import java.util.Optional;

/** Says of addresses which variable they come from, and nothing of how far they are from it: which fence is written, but no fence less. Stateless. */
public final class OriginOracle implements AddressOracle {
    private static final AddressOracle KNOWN = new DataFlowOracle();
    private static final AddressOracle PLAIN = new SyntacticOracle();

    @Override
    public AddressFacts of(PtxFunction function, AnalysedModule module) {
        AddressFacts known = KNOWN.of(function, module);
        AddressFacts plain = PLAIN.of(function, module);
        return new AddressFacts() {
            @Override
            public AddressFact of(Instruction access, int operand) {
                boolean named = access.operands().get(operand) instanceof Operand.Address(Operand.Named _, long _);
                return named ? plain.of(access, operand) : origin(known.of(access, operand));
            }

            @Override
            public List<BaseFence> baseFences() {
                return List.of();
            }

            @Override
            public List<Derivation> derivations() {
                return List.of();
            }
        };
    }

    private static AddressFact origin(AddressFact fact) {
        Optional<StateSpace> space = fact.space();
        boolean variable = space.filter(each -> each == StateSpace.LOCAL || each == StateSpace.CONST || each == StateSpace.PARAM).isPresent();
        return new AddressFact(space, 1, variable && fact.placement() instanceof Placement.NearSymbol near
                ? new Placement.NearSymbol(near.symbol(), Placement.UNBOUNDED_LOW, Placement.UNBOUNDED_HIGH) : new Placement.Unknown());
    }
}
