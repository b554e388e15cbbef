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
import java.util.List;

/** Proves only facts that an operand alone shows: its instruction's space, and {@code [variable+constant]}. Stateless. */
public final class SyntacticOracle implements AddressOracle {
    @Override
    public AddressFacts of(PtxFunction function, AnalysedModule module) {
        return new AddressFacts() {
            @Override
            public AddressFact of(Instruction access, int operand) {
                return fact(access, operand);
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

    private static AddressFact fact(Instruction access, int operand) {
        Placement placement = new Placement.Unknown();
        if (access.operands().get(operand) instanceof Operand.Address(Operand.Named(String name), long offset)) {
            placement = new Placement.NearSymbol(name, offset, offset);
        }
        return new AddressFact(access.space(), 1, placement);
    }
}
