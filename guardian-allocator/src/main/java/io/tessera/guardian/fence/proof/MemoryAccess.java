package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import java.util.Optional;

/** What an instruction does at the address in one of its operands. Stateless. */
final class MemoryAccess {
    private static final int MOST_BYTES = 32;

    private MemoryAccess() {
    }

    /** The space that an operand's address is in, by what the instruction says; empty for a generic one. */
    static Optional<StateSpace> space(Instruction instruction, int operand) {
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

    /** Whether it is understood well enough to be made from a shadow. */
    static boolean isPlain(Instruction instruction) {
        return switch (instruction.opcode()) {
            case "ld", "ldu", "st", "atom", "red" -> !instruction.has("async");
            case "cp" -> plainCopy(instruction);
            default -> false;
        };
    }

    /** Bytes from the address on that it may touch, at most. */
    static int bytes(Instruction instruction) {
        ScalarType type = instruction.type().orElse(null);
        if (type == null || instruction.opcode().equals("cp")) {
            return instruction.opcode().equals("cp") ? 16 : MOST_BYTES;
        }
        return Math.min(MOST_BYTES, type.bytes() * instruction.vectorLength());
    }
}
