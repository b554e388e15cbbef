package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.List;

/**
 * A fact about a comparison that follows from taking one side of a conditional branch later in the same block. Immutable.
 *
 * @param comparison index of a {@code setp}
 * @param holds      whether its comparison (not its combination with a predicate) holds
 */
public record Condition(int comparison, boolean holds) {
    /** How many predicates are followed back from the branch. */
    private static final int DEPTH = 4;

    /** Returns the conditions that hold at a successor of a block, if it is reached from there only. */
    public static List<Condition> on(FlatCode code, ControlFlow flow, int block, int successor) {
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
     * Returns whether the rewriter may make a comparison false earlier than the program does, to be certain that a loop ends: one of a register that
     * counts by a constant. Nothing then follows from a false result.
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
     * @return register, its operand's index, and what is added to the register to make that operand: 0, or a constant if the
     *         operand was made by adding it to the register in the same block
     */
    long[][] subjects(FlatCode code, int start, int end) {
        List<long[]> found = new ArrayList<>(2);
        Instruction setp = code.instruction(comparison);
        ScalarType type = setp.type().orElse(null);
        for (int i = 1; i <= 2 && type != null && type.kind() != ScalarType.Kind.FLOAT; i++) {
            if (setp.operands().get(i) instanceof Operand.Register register) {
                int number = code.reads(comparison)[code.readOf(comparison, register.name())];
                if (code.type(number).bits() == type.bits()) {
                    if (kept(code, number, comparison + 1, end)) {
                        found.add(new long[] {number, i, 0});
                    }
                    summand(code, number, i, start, end, found);
                }
            }
        }
        return found.toArray(long[][]::new);
    }

    private static boolean kept(FlatCode code, int register, int from, int to) {
        for (int at = from; at < to; at++) {
            for (int written : code.writes(at)) {
                if (written == register) {
                    return false;
                }
            }
        }
        return true;
    }

    /** The register that the compared one is a constant more than, if it still is at the end of the block. */
    private void summand(FlatCode code, int register, int operand, int start, int end, List<long[]> found) {
        int at = comparison - 1;
        while (at >= start && kept(code, register, at, at + 1)) {
            at--;
        }
        if (at < start || code.onlyResult(at) != register || code.instruction(at).guard().isPresent()) {
            return;
        }
        Instruction made = code.instruction(at);
        boolean adds = made.opcode().equals("add") && made.modifiers().size() == 1 && made.operands().size() == 3
                && made.type().map(ScalarType::bits).orElse(0) == code.type(register).bits();
        if (adds && made.operands().get(1) instanceof Operand.Register from
                && made.operands().get(2) instanceof Operand.Immediate(long amount, boolean unsigned)) {
            int source = code.reads(at)[code.readOf(at, from.name())];
            boolean narrow = amount == (int) amount && code.type(source).bits() == code.type(register).bits();
            if (narrow && source != register && kept(code, source, at, end)) {
                found.add(new long[] {source, operand, amount});
            }
        }
    }
}
