package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.Set;

/** Finds the operands that an instruction writes. The set is never too small. Stateless. */
final class Effects {
    /** Instructions whose first operand, where it is a register, is read. */
    private static final Set<String> NO_RESULT = Set.of("st", "bra", "brx", "ret", "exit", "membar", "fence",
            "prefetch", "prefetchu", "applypriority", "discard", "trap", "brkpt", "nanosleep", "pmevent", "setmaxnreg",
            "red", "sust", "sured", "stmatrix", "griddepcontrol", "stackrestore", "tensormap", "cp");
    /** Instructions of several shapes, asynchronous ones among them: every register that they name counts as written. */
    private static final Set<String> MANY_SHAPES = Set.of("wgmma", "tcgen05", "mbarrier", "multimem", "wmma",
            "clusterlaunchcontrol", "bar", "barrier", "call");

    private Effects() {
    }

    /** Returns how many operands, from the first on, may be written. */
    static int results(Instruction instruction) {
        String opcode = instruction.opcode();
        if (MANY_SHAPES.contains(opcode)) {
            return opcode.equals("call") ? 1 : instruction.operands().size();
        }
        return NO_RESULT.contains(opcode) ? 0 : 1;
    }

    /** Returns whether an operand that may be written may instead only be read, or be read and written. */
    static boolean readsItsResults(Instruction instruction) {
        return MANY_SHAPES.contains(instruction.opcode());
    }

    /** Returns whether an operand is a memory address: its registers are only read. */
    static boolean isAddress(Operand operand) {
        return operand instanceof Operand.Address || operand instanceof Operand.CompoundAddress;
    }
}
