package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Statement;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Registers of a function that hold one number, or the address of one variable, wherever they are read. Compilers put the operands of inline assembly
 * into such registers. Immutable.
 */
final class NamedNumbers {
    private final Map<Operand, Operand.Immediate> numbers = new HashMap<>();
    private final Set<Operand> symbols = new HashSet<>();
    private final Set<Operand> written = new HashSet<>();

    NamedNumbers(Block body) {
        for (Statement statement : body.statements()) {
            if (statement instanceof Instruction instruction) {
                note(instruction);
            }
        }
    }

    private void note(Instruction instruction) {
        List<Operand.Register> results = Definitions.of(instruction);
        boolean named = instruction.opcode().equals("mov") && instruction.guard().isEmpty() && instruction.operands().size() == 2
                && instruction.operands().get(1) instanceof Operand.Immediate;
        for (Operand.Register result : results) {
            if (!written.add(result)) {
                numbers.remove(result);
                symbols.remove(result);
            } else if (named) {
                numbers.put(result, (Operand.Immediate) instruction.operands().get(1));
            } else if (isSymbol(instruction)) {
                symbols.add(result);
            }
        }
    }

    /** Returns whether it is {@code mov r, variable}, or adds a constant to a register that holds a variable's address. */
    private boolean isSymbol(Instruction i) {
        return i.guard().isEmpty() && (i.opcode().equals("mov") && i.operands().size() == 2 && i.operands().get(1) instanceof Operand.Symbol
                || i.opcode().equals("add") && i.operands().size() == 3 && symbols.contains(i.operands().get(1))
                        && i.operands().get(2) instanceof Operand.Immediate);
    }

    /** Returns whether an address starts from a variable that the text names. */
    boolean isSymbol(Operand.Base base) {
        return base instanceof Operand.Named || base instanceof Operand.Register register && symbols.contains(register);
    }

    /** Returns the number in a register if it is known, otherwise the operand itself. */
    Operand of(Operand operand) {
        Operand.Immediate number = numbers.get(operand);
        return number == null ? operand : number;
    }
}
