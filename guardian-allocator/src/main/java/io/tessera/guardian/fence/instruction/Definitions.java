package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Finds the registers that an instruction writes. Stateless. */
public final class Definitions {
    /** Opcodes whose first operand is not a result. */
    private static final Set<String> WITHOUT_RESULT = Set.of("st", "red", "bra", "brx", "ret", "exit", "bar", "barrier",
            "membar", "fence", "prefetch", "prefetchu", "sust", "sured", "stmatrix", "cp", "applypriority", "discard",
            "trap", "brkpt", "nanosleep", "pmevent", "setmaxnreg", "griddepcontrol");

    private Definitions() {
    }

    /** The registers; more than are really written where that is not clear. */
    public static List<Operand.Register> of(Instruction instruction) {
        if (instruction.operands().isEmpty() || WITHOUT_RESULT.contains(instruction.opcode()) && !isReduction(instruction)) {
            return List.of();
        }
        if (instruction.operands().getFirst() instanceof Operand.Register register) {
            return List.of(register);
        }
        List<Operand.Register> found = new ArrayList<>(1);
        collect(instruction.operands().getFirst(), found);
        return found;
    }

    /** Returns whether it is the reduction of a barrier, which has a result. */
    private static boolean isReduction(Instruction instruction) {
        return instruction.opcode().startsWith("bar") && instruction.has("red");
    }

    private static void collect(Operand operand, List<Operand.Register> into) {
        switch (operand) {
            case Operand.Register register -> into.add(register);
            case Operand.Component part -> into.add(new Operand.Register(part.name()));
            case Operand.Vector vector -> vector.elements().forEach(e -> collect(e, into));
            case Operand.Pair pair -> {
                collect(pair.first(), into);
                collect(pair.second(), into);
            }
            case Operand.Arguments arguments -> arguments.elements().forEach(e -> collect(e, into));
            default -> {}
        }
    }

    /** Returns whether an instruction writes a register. */
    public static boolean writes(Instruction instruction, Operand.Register register) {
        return of(instruction).contains(register);
    }
}
