package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.Set;

/** Which operands an instruction writes. What it writes is never underestimated. Stateless. */
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

    /** How many operands may be written: the first ones. */
    static int results(Instruction instruction) {
        String opcode = instruction.opcode();
        if (MANY_SHAPES.contains(opcode)) {
            return opcode.equals("call") ? 1 : instruction.operands().size();
        }
        return NO_RESULT.contains(opcode) ? 0 : 1;
    }

    /** Whether what it may write is perhaps only read, or read and written. */
    static boolean readsItsResults(Instruction instruction) {
        return MANY_SHAPES.contains(instruction.opcode());
    }

    /** Whether an operand is memory's address: what is in it is read only. */
    static boolean isAddress(Operand operand) {
        return operand instanceof Operand.Address || operand instanceof Operand.CompoundAddress;
    }
}
