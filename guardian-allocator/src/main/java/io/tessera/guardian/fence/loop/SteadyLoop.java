package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.List;
import java.util.Set;

/**
 * A loop of one block that adds to a counter what it does not change, and goes on while the counter is less than what it does not change: the usual loop
 * over a grid or a block. So it is known before a pass how many more there are at least. Immutable.
 *
 * @param compare the comparison that ends it
 * @param step    what is added in a pass
 */
public record SteadyLoop(Instruction compare, Operand.Register step) {
    private static final Set<String> LESS = Set.of("lt", "lo");
    private static final Set<String> TYPES = Set.of("s32", "u32", "s64", "u64");

    /** The counter. */
    public Operand.Register counter() {
        return (Operand.Register) compare.operands().get(1);
    }

    /** Type of the comparison. */
    public String type() {
        return compare.modifiers().get(1);
    }

    /** Creates the loop from a block's instructions and the branch that closes it; null if it is not a steady loop. */
    static SteadyLoop of(List<Instruction> block, Instruction branch) {
        Guard guard = branch.guard().orElseThrow();
        int end = guard.negated() ? -1 : only(block, guard.register());
        if (end < 0 || !isLess(block.get(end))) {
            return null;
        }
        Instruction compare = block.get(end);
        Operand.Register counter = (Operand.Register) compare.operands().get(1);
        int gain = only(block, counter);
        if (gain < 0 || gain > end || !fixed(block, compare.operands().get(2))) {
            return null;
        }
        Instruction sum = block.get(gain);
        boolean adds = sum.opcode().equals("add") && sum.modifiers().size() == 1 && TYPES.contains(sum.modifiers().getFirst())
                && sum.modifiers().getFirst().endsWith(compare.modifiers().get(1).substring(1)) && sum.operands().get(1).equals(counter)
                && sum.operands().get(2) instanceof Operand.Register step && !step.equals(counter) && fixed(block, step);
        return adds ? new SteadyLoop(compare, (Operand.Register) sum.operands().get(2)) : null;
    }

    private static boolean isLess(Instruction compare) {
        return compare.opcode().equals("setp") && compare.modifiers().size() == 2 && LESS.contains(compare.modifiers().getFirst())
                && TYPES.contains(compare.modifiers().get(1)) && compare.operands().size() == 3
                && compare.operands().get(1) instanceof Operand.Register;
    }

    /** Returns the index of the block's only write to a register, if there is one and it has no guard; otherwise -1. */
    private static int only(List<Instruction> block, Operand.Register register) {
        int found = -1;
        for (int i = 0; i < block.size(); i++) {
            if (Definitions.writes(block.get(i), register)) {
                if (found >= 0 || block.get(i).guard().isPresent()) {
                    return -1;
                }
                found = i;
            }
        }
        return found;
    }

    private static boolean fixed(List<Instruction> block, Operand operand) {
        return operand instanceof Operand.Immediate
                || operand instanceof Operand.Register register && block.stream().noneMatch(i -> Definitions.writes(i, register));
    }
}
