package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.instruction.InstructionTable;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A pass of a loop of one block, as it is written again behind itself. A product and a sum that do not say how they are rounded may be compiled to one
 * instruction that rounds once, where they stand together. A sum of a product of the pass before never stands with it in the program, so it says
 * {@code .rn} in every pass but the first, which is what it means there. Immutable.
 */
final class RepeatedPass {
    /** Lanes of a warp do these together, or threads wait by them; other instructions on registers alone just compute. */
    private static final Set<String> TOGETHER = Set.of("activemask", "bar", "barrier", "cp", "elect", "fence", "griddepcontrol", "match", "mbarrier",
            "membar", "mma", "movmatrix", "nanosleep", "pmevent", "redux", "setmaxnreg", "shfl", "vote", "wgmma", "wmma");
    private static final Set<String> ACCESSES = Set.of("ld", "ldu", "st", "atom", "red");
    /** Modifiers of accesses that may be made again and again until another thread has done something. */
    private static final Set<String> WAITING = Set.of("volatile", "relaxed", "acquire", "acq_rel", "mmio", "cas", "exch");
    private static final Set<String> ROUNDINGS = Set.of("rn", "rz", "rm", "rp");
    private static final Set<String> MOVING = Set.of("mov", "selp", "neg", "abs");
    /** Pass in which the product in a register was made: this one or an earlier one. */
    private static final int NOW = 1;
    private static final int BEFORE = 2;

    private static final RepeatedPass AS_IT_IS = new RepeatedPass(Set.of());

    private final Set<Instruction> sumsOfBefore;

    private RepeatedPass(Set<Instruction> sumsOfBefore) {
        this.sumsOfBefore = sumsOfBefore;
    }

    /**
     * Creates a pass from a block's instructions, without the branch that closes it.
     *
     * @param copies number of copies
     * @param sums   returns {@link #sums} of the whole function
     * @return null if it must not be repeated, because lanes or threads wait for each other in it, or its values could differ in their last bits
     */
    static RepeatedPass of(List<Instruction> block, int copies, Supplier<Map<String, Integer>> sums) {
        boolean multiplies = false;
        for (Instruction i : block) {
            if (!computes(i)) {
                return null;
            }
            multiplies |= isProduct(i);
        }
        return multiplies ? rounded(block, copies, sums.get()) : AS_IT_IS;
    }

    private static RepeatedPass rounded(List<Instruction> block, int copies, Map<String, Integer> sums) {
        Set<Instruction> found = Collections.newSetFromMap(new IdentityHashMap<>());
        Map<String, Integer> products = new HashMap<>();
        for (int copy = 0; copy < copies; copy++) {
            products.replaceAll((_, made) -> made == 0 ? 0 : BEFORE);
            for (Instruction i : block) {
                int read = read(i, products);
                if (isSum(i) && (read & BEFORE) != 0) {
                    if ((read & NOW) != 0) {
                        return null;
                    }
                    found.add(i);
                }
                int made = isProduct(i) ? NOW : MOVING.contains(i.opcode()) ? read : 0;
                Definitions.of(i).forEach(register -> products.merge(register.name(), made, (old, now) -> i.guard().isPresent() ? old | now : now));
            }
        }
        Map<String, Integer> here = sums(block);
        boolean summedBehind = products.entrySet().stream()
                .anyMatch(each -> each.getValue() != 0 && !sums.getOrDefault(each.getKey(), 0).equals(here.getOrDefault(each.getKey(), 0)));
        return summedBehind ? null : new RepeatedPass(found);
    }

    /** Returns, for each register, how often sums without a rounding modifier read it. */
    static Map<String, Integer> sums(List<Instruction> instructions) {
        Map<String, Integer> sums = new HashMap<>();
        for (Instruction i : instructions) {
            if (isSum(i)) {
                i.operands().subList(1, i.operands().size()).forEach(operand -> operand.registers(name -> sums.merge(name, 1, Integer::sum)));
            }
        }
        return sums;
    }

    /** An instruction as it is written in passes but the first. */
    Instruction again(Instruction i) {
        if (!sumsOfBefore.contains(i)) {
            return i;
        }
        List<String> modifiers = new ArrayList<>(List.of("rn"));
        modifiers.addAll(i.modifiers());
        return new Instruction(i.guard(), i.opcode(), modifiers, i.operands(), i.line());
    }

    private static boolean computes(Instruction i) {
        if (TOGETHER.contains(i.opcode())) {
            return false;
        }
        InstructionClass what = InstructionTable.of(i);
        return what instanceof InstructionClass.Pure
                || what instanceof InstructionClass.Memory && ACCESSES.contains(i.opcode()) && Collections.disjoint(WAITING, i.modifiers());
    }

    private static int read(Instruction i, Map<String, Integer> products) {
        int[] read = {0};
        for (Operand operand : i.operands().subList(Math.min(1, i.operands().size()), i.operands().size())) {
            operand.registers(name -> read[0] |= products.getOrDefault(name, 0));
        }
        return read[0];
    }

    private static boolean isSum(Instruction i) {
        return (i.opcode().equals("add") || i.opcode().equals("sub")) && leavesRoundingOpen(i);
    }

    private static boolean isProduct(Instruction i) {
        return i.opcode().equals("mul") && leavesRoundingOpen(i);
    }

    private static boolean leavesRoundingOpen(Instruction i) {
        String type = i.modifiers().isEmpty() ? "" : i.modifiers().getLast();
        return (type.startsWith("f") || type.startsWith("bf")) && Collections.disjoint(ROUNDINGS, i.modifiers());
    }
}
