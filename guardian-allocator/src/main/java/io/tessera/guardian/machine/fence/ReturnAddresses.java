package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Return addresses of calls inside a section: constants that a {@code MOV} before the call puts into a register. They move with the code. Stateless.
 */
final class ReturnAddresses {
    /** How far before a call its return address is looked for first, in instructions. */
    private static final int NEAR = 96;

    private ReturnAddresses() {
    }

    /**
     * The instructions that hold a return address, with the place that each returns to.
     *
     * @throws MachineCodeException if a call has none, or if it cannot be told which
     */
    static Map<Integer, Integer> find(SectionFlow flow) throws MachineCodeException {
        Map<Integer, Integer> found = new HashMap<>();
        Map<Integer, List<Integer>> constants = null;
        boolean returns = false;
        for (int i = 0; i < flow.count() && !returns; i++) {
            returns = flow.operation(i).kind() == Kind.RETURN;
        }
        for (int i = 0; i < flow.count() && returns; i++) {
            if (flow.operation(i).kind() != Kind.CALL) {
                continue;
            }
            int constant = near(flow, i);
            if (constant < 0) {
                constants = constants == null ? constants(flow) : constants;
                List<Integer> all = constants.getOrDefault((i + 1) * InstructionWord.BYTES, List.of());
                if (all.size() != 1) {
                    throw new MachineCodeException("a call whose return address is not found", i * InstructionWord.BYTES);
                }
                constant = all.getFirst();
            }
            found.put(constant, i + 1);
        }
        return found;
    }

    private static int near(SectionFlow flow, int call) {
        for (int i = call - 1; i >= Math.max(0, call - NEAR); i--) {
            if (isConstant(flow, i) && InstructionWord.immediate(flow.low(i)) == (call + 1) * InstructionWord.BYTES) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isConstant(SectionFlow flow, int at) {
        return switch (InstructionWord.key(flow.low(at), flow.high(at))) {
            case 0x802, 0x424, 0x882 -> true;
            default -> false;
        };
    }

    private static Map<Integer, List<Integer>> constants(SectionFlow flow) {
        Map<Integer, List<Integer>> constants = new HashMap<>();
        for (int i = 0; i < flow.count(); i++) {
            if (isConstant(flow, i)) {
                constants.computeIfAbsent(InstructionWord.immediate(flow.low(i)), _ -> new ArrayList<>()).add(i);
            }
        }
        return constants;
    }
}
