package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.List;

/**
 * What the way through a conditional branch says about a comparison before it in the same block. Immutable.
 *
 * @param comparison index of a {@code setp}
 * @param holds      whether its comparison (not its combination with a predicate) holds
 */
record Condition(int comparison, boolean holds) {
    /** How many predicates are looked through from the branch on. */
    private static final int DEPTH = 4;

    /** What holds at a successor of a block, if it is reached from there only. */
    static List<Condition> on(FlatCode code, ControlFlow flow, int block, int successor) {
        List<Condition> found = new ArrayList<>(2);
        Boolean taken = flow.taken(block, successor);
        if (taken != null) {
            int last = flow.end(block) - 1;
            code.instruction(last).guard().ifPresent(guard -> {
                int predicate = code.reads(last)[code.readOf(last, guard.register().name())];
                new Search(code, flow.start(block), found).look(predicate, taken != guard.negated(), last, DEPTH);
            });
        }
        return found;
    }

    private record Search(FlatCode code, int start, List<Condition> found) {
        private void look(int predicate, boolean value, int before, int depth) {
            int at = before - 1;
            while (at >= start && !writes(at, predicate)) {
                at--;
            }
            if (at < start || depth == 0 || code.instruction(at).guard().isPresent()) {
                return;
            }
            Instruction instruction = code.instruction(at);
            List<Operand> operands = instruction.operands();
            switch (instruction.opcode()) {
                case "setp" -> compare(at, predicate, value, depth);
                case "and" -> both(operands, value, true, at, depth);
                case "or" -> both(operands, value, false, at, depth);
                case "not" -> side(operands.get(1), !value, at, depth);
                default -> {
                    // Says nothing that is followed.
                }
            }
        }

        private boolean writes(int at, int register) {
            for (int written : code.writes(at)) {
                if (written == register) {
                    return true;
                }
            }
            return false;
        }

        private void both(List<Operand> operands, boolean value, boolean telling, int at, int depth) {
            if (value == telling && operands.size() == 3) {
                side(operands.get(1), value, at, depth);
                side(operands.get(2), value, at, depth);
            }
        }

        private void side(Operand operand, boolean value, int at, int depth) {
            if (operand instanceof Operand.Register register) {
                look(code.reads(at)[code.readOf(at, register.name())], value, at, depth - 1);
            } else if (operand instanceof Operand.Not(Operand.Register register)) {
                look(code.reads(at)[code.readOf(at, register.name())], !value, at, depth - 1);
            }
        }

        private void compare(int at, int predicate, boolean value, int depth) {
            Instruction setp = code.instruction(at);
            boolean only = setp.operands().getFirst() instanceof Operand.Register && code.onlyResult(at) == predicate
                    && (value || !endsCountedLoop(code, at));
            if (only && setp.operands().size() == 3) {
                found.add(new Condition(at, value));
            } else if (only && setp.operands().size() == 4 && (setp.has("and") && value || setp.has("or") && !value)) {
                found.add(new Condition(at, value));
                side(setp.operands().get(3), value, at, depth);
            }
        }
    }

    /**
     * Whether a comparison may be one that the rewriter makes false earlier than the program says, to be certain that a loop ends: one
     * of a register that counts by a constant. That it is false then says nothing.
     */
    private static boolean endsCountedLoop(FlatCode code, int comparison) {
        Instruction setp = code.instruction(comparison);
        boolean tightened = switch (setp.modifiers().getFirst()) {
            case "ne", "lt", "lo", "gt", "hi" -> true;
            default -> false;
        };
        return tightened && setp.operands().get(1) instanceof Operand.Register register
                && code.counts(code.reads(comparison)[code.readOf(comparison, register.name())]);
    }

    /**
     * Registers that are compared, and still hold at the end of the block what was compared.
     *
     * @return pairs of register and its operand's index
     */
    int[][] subjects(FlatCode code, int end) {
        List<int[]> found = new ArrayList<>(2);
        Instruction setp = code.instruction(comparison);
        ScalarType type = setp.type().orElse(null);
        for (int i = 1; i <= 2 && type != null && type.kind() != ScalarType.Kind.FLOAT; i++) {
            if (setp.operands().get(i) instanceof Operand.Register register) {
                int number = code.reads(comparison)[code.readOf(comparison, register.name())];
                boolean kept = code.type(number).bits() == type.bits();
                for (int at = comparison + 1; at < end && kept; at++) {
                    for (int written : code.writes(at)) {
                        kept &= written != number;
                    }
                }
                if (kept) {
                    found.add(new int[] {number, i});
                }
            }
        }
        return found.toArray(int[][]::new);
    }
}
