package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import java.util.Optional;

/** Describes the access that an instruction makes at the address in one of its operands. Stateless. */
public final class MemoryAccess {
    private static final int MOST_BYTES = 32;
    private static final int UNKNOWN = 0;

    private MemoryAccess() {
    }

    /** The space that an operand's address is in, by what the instruction says; empty for a generic one. */
    public static Optional<StateSpace> space(Instruction instruction, int operand) {
        if (instruction.opcode().equals("cp")) {
            // cp.async.ca.shared.global [to], [from], size
            return plainCopy(instruction) ? Optional.of(operand == 0 ? StateSpace.SHARED : StateSpace.GLOBAL)
                    : Optional.empty();
        }
        return instruction.space();
    }

    private static boolean plainCopy(Instruction instruction) {
        return instruction.has("async") && !instruction.has("bulk") && !instruction.has("mbarrier")
                && instruction.has("global");
    }

    /** Returns whether it is understood well enough to use a shadow. */
    public static boolean isPlain(Instruction instruction) {
        return switch (instruction.opcode()) {
            case "ld", "ldu", "st", "atom", "red" -> !instruction.has("async");
            case "cp" -> plainCopy(instruction);
            default -> false;
        };
    }

    /** Bytes from the address on that it may touch, at most. */
    public static int mostBytes(Instruction instruction) {
        int exact = exactBytes(instruction);
        return exact == UNKNOWN ? MOST_BYTES : Math.min(MOST_BYTES, exact);
    }

    /**
     * Returns the alignment without which the GPU faults: an access is aligned to its size. Returns 1 if the size is not known, since a fence that
     * clears more bits than the GPU demands would change the result of a legal program.
     */
    public static int alignmentBytes(Instruction instruction) {
        int exact = exactBytes(instruction);
        return exact == UNKNOWN ? 1 : Math.min(MOST_BYTES, exact);
    }

    private static int exactBytes(Instruction instruction) {
        if (instruction.opcode().equals("cp")) { // cp.async.ca.shared.global [to], [from], size
            return instruction.operands().size() > 2 && instruction.operands().get(2) instanceof Operand.Immediate(long size, boolean _)
                    && (size == 4 || size == 8 || size == 16) ? (int) size : UNKNOWN;
        }
        ScalarType type = instruction.type().orElse(null);
        return type == null ? UNKNOWN : type.bytes() * instruction.vectorLength();
    }
}
