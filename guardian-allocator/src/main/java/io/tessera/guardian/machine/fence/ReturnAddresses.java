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
 * Return addresses of calls: constants that a {@code MOV} before the call puts into a register. They move with the code. For a call inside
 * the section the constant is the address. For a call by a register before sm_90, {@code LEPC} gives its own place, and code adds the
 * distance from there, a difference of two constants. Stateless.
 */
final class ReturnAddresses {
    /** Distance before a call, in instructions, within which its return address is searched first. */
    private static final int NEAR = 96;
    /** Distance from {@code LEPC} to the call. */
    private static final int NEAR_PLACE = 32;
    /** {@code LEPC} before sm_90; from then on it is directly before its call and needs no constants. */
    private static final int PLACE = 0x34e;
    private static final int LAST_ARITHMETIC = 0x120;

    private ReturnAddresses() {
    }

    /**
     * Returns the instructions that hold a return address, with the call after which it is; for those that hold the address of an instruction, the
     * complement of its index.
     *
     * @throws MachineCodeException if a call has no return address, or it cannot be determined
     */
    static Map<Integer, Integer> find(SectionFlow flow) throws MachineCodeException {
        Map<Integer, Integer> found = new HashMap<>();
        Map<Integer, List<Integer>> constants = null;
        boolean returns = false;
        for (int i = 0; i < flow.count() && !returns; i++) {
            returns = flow.operation(i).kind() == Kind.RETURN;
        }
        for (int i = 0; i < flow.count(); i++) {
            if (InstructionWord.key(flow.low(i), flow.high(i)) == PLACE) {
                place(flow, i, found);
            }
            if (flow.operation(i).kind() != Kind.CALL || !returns) {
                continue;
            }
            int constant = near(flow, i);
            if (constant < 0) {
                constants = constants == null ? constants(flow) : constants;
                List<Integer> all = constants.getOrDefault((i + 1) * InstructionWord.BYTES, List.of());
                if (all.isEmpty() && flow.architecture().hasCallsWithoutReturn()) {
                    continue;
                }
                if (all.size() != 1 || !isConstant(flow, all.getFirst())) {
                    throw new MachineCodeException("a call whose return address is not found", i * InstructionWord.BYTES);
                }
                constant = all.getFirst();
            }
            found.put(constant, i);
        }
        return found;
    }

    /** Code behind {@code LEPC} has the return address less the place of {@code LEPC} itself, both as constants. */
    private static void place(SectionFlow flow, int at, Map<Integer, Integer> found) throws MachineCodeException {
        int call = at + 1;
        while (call < flow.count() && call - at < NEAR_PLACE && !flow.isLeader(call) && flow.operation(call).kind() != Kind.CALL_REGISTER
                && flow.operation(call).kind() != Kind.CALL_SYMBOL) {
            call++;
        }
        int own = -1;
        int returned = -1;
        boolean several = false;
        for (int i = at + 1; i < call; i++) {
            int value = InstructionWord.immediate(flow.low(i));
            if (isConstant(flow, i) && value == at * InstructionWord.BYTES) {
                several |= own >= 0;
                own = i;
            } else if (isConstant(flow, i) && value == (call + 1) * InstructionWord.BYTES) {
                several |= returned >= 0;
                returned = i;
            }
        }
        if (own < 0 || returned < 0 || several) {
            throw new MachineCodeException("a LEPC whose return address is not found", at * InstructionWord.BYTES);
        }
        found.put(own, ~at);
        found.put(returned, call);
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

    /** Returns whether an instruction computes with an immediate, which may make an address. */
    private static boolean hasImmediate(SectionFlow flow, int at) {
        int key = InstructionWord.key(flow.low(at), flow.high(at));
        int form = key >>> 9 & 7;
        return (form == 2 || form == 4) && (key & 0x1ff) < LAST_ARITHMETIC;
    }

    private static Map<Integer, List<Integer>> constants(SectionFlow flow) {
        Map<Integer, List<Integer>> constants = new HashMap<>();
        for (int i = 0; i < flow.count(); i++) {
            if (hasImmediate(flow, i)) {
                constants.computeIfAbsent(InstructionWord.immediate(flow.low(i)), _ -> new ArrayList<>()).add(i);
            }
        }
        return constants;
    }
}
