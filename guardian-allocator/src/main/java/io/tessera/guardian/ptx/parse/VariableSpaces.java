package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Modifiers;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * State spaces of variables whose addresses in their own space are not generic addresses. NVIDIA's assembler treats {@code ld.u32 x, [v]} of such a
 * variable as an access to the variable's space (compared by machine code). Here the instruction gets the space as a modifier, so that the address is
 * not taken for a generic one. Not thread-safe.
 */
final class VariableSpaces {
    private static final Set<String> OPCODES = Set.of("ld", "st", "atom", "red", "mbarrier");
    /** Words that stand before the space. */
    private static final Set<String> BEFORE = Set.of("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta",
            "cluster", "gpu", "sys", "init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait",
            "parity", "noComplete");

    private final Map<String, StateSpace> spaces = new HashMap<>();

    /** Records a variable by its name in the tree. */
    void declare(Variable variable) {
        if (variable.space() == StateSpace.SHARED || variable.space() == StateSpace.LOCAL) {
            spaces.put(variable.name(), variable.space());
        }
    }

    /** The words of an instruction, with the space of the variable that its address starts from, if they name none. */
    List<String> named(String opcode, Modifiers words, List<Operand> operands) {
        if (spaces.isEmpty() || !OPCODES.contains(opcode) || words.space().isPresent()) {
            return words;
        }
        for (Operand operand : operands) {
            if (operand instanceof Operand.Address(Operand.Base base, long _)) {
                StateSpace space = base instanceof Operand.Named(String name) ? spaces.get(name) : null;
                return space == null ? words : with(words, space);
            }
        }
        return words;
    }

    private static List<String> with(Modifiers words, StateSpace space) {
        int place = 0;
        while (place < words.size() && BEFORE.contains(words.get(place))) {
            place++;
        }
        List<String> all = new ArrayList<>(words);
        all.add(place, space.ptx());
        return all;
    }
}
