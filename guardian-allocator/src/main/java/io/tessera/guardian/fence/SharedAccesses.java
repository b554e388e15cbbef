package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The accesses of a kernel to shared memory by name of the space, and how many of them need a fence. Immutable once made. */
final class SharedAccesses {
    private final List<Instruction> accesses = new ArrayList<>();
    private final Map<String, Long> sizes = new HashMap<>();
    private int instructions;

    SharedAccesses(PtxFunction kernel, PtxModule module) {
        Block body = kernel.body().orElseThrow();
        collect(body);
        if (!accesses.isEmpty()) {
            module.directives().forEach(this::note);
            body.statements().forEach(this::note);
        }
    }

    private void collect(Block block) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction instruction) {
                instructions++;
                boolean shared = switch (instruction.opcode()) {
                    case "ld", "st", "atom", "red" -> instruction.space().orElse(null) == StateSpace.SHARED;
                    default -> false;
                };
                if (shared) {
                    accesses.add(instruction);
                }
            }
        }
    }

    private void note(Object declaration) {
        if (declaration instanceof Variable variable && variable.space() == StateSpace.SHARED) {
            sizes.put(variable.name(), variable.sizeBytes());
        }
    }

    boolean isEmpty() {
        return accesses.isEmpty();
    }

    /** How many instructions the kernel has in all. */
    int instructions() {
        return instructions;
    }

    /** How many addresses are not known to be within their variables. */
    int fences(AddressFacts facts) {
        int count = 0;
        for (Instruction access : accesses) {
            for (int operand = 0; operand < access.operands().size(); operand++) {
                if (access.operands().get(operand) instanceof Operand.Address) {
                    count += isInBounds(facts.of(access, operand), access) ? 0 : 1;
                }
            }
        }
        return count;
    }

    private boolean isInBounds(AddressFact fact, Instruction access) {
        int bytes = access.type().map(type -> type.bytes() * access.vectorLength()).orElse(1);
        return fact.placement() instanceof Placement.NearSymbol(String symbol, long low, long high) && low >= 0 && high >= low
                && high <= sizes.getOrDefault(symbol, 0L) - bytes;
    }
}
