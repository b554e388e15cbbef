package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * Where a function has to look at the stop word: at every branch that goes back in the text, since every cycle has one; except in
 * innermost loops that count to a bound in 32 bits, which end by themselves. Immutable.
 */
final class Loops {
    private static final int AROUND_COUNTED = 64;
    private static final int AROUND_CALLS = 256;
    /** A pass may take a millisecond. */
    private static final int AROUND_SLEEP = 1024;
    /** A pass with such a sleep takes no longer than others do. */
    private static final int NAP_NS = 100;

    /**
     * What makes certain that a counted loop ends.
     *
     * @param ignoredBits low bits that {@code setp.ne} leaves out: a step of a multiple of 2^k cannot miss the bound
     * @param limit       the bound is cut to this, so that the counter cannot pass it by running over
     * @param cut         whether {@code limit} is to be used
     */
    record Bound(int ignoredBits, long limit, boolean cut) {
    }

    private final List<Instruction> flat = new ArrayList<>();
    private final List<Integer> lastLabel = new ArrayList<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final Map<String, List<String>> tables = new HashMap<>();
    private final Map<Instruction, Integer> weights = new IdentityHashMap<>();
    private final Map<Instruction, Bound> bounds = new IdentityHashMap<>();
    private final Map<Instruction, Integer> depths = new IdentityHashMap<>();
    private final int[] backward;
    private final int[] leaving;
    private int newest;

    Loops(Block body, AddressFacts facts) {
        flatten(body);
        int[] starts = new int[flat.size()];
        for (int i = 0; i < flat.size(); i++) {
            starts[i] = backTo(flat.get(i), i);
        }
        backward = sums(i -> starts[i] >= 0);
        leaving = sums(i -> flat.get(i).opcode().equals("call") || flat.get(i).opcode().equals("brx"));
        boolean[] ends = new boolean[flat.size()];
        for (int i = 0; i < flat.size(); i++) {
            ends[i] = starts[i] >= 0 && (facts.endsByItself(flat.get(i)) || isCounted(starts[i], i));
        }
        nest(starts);
        int[] counted = sums(i -> ends[i]);
        int[] calls = sums(i -> flat.get(i).opcode().equals("call"));
        int[] sleeps = sums(i -> sleeps(flat.get(i)));
        for (int i = 0; i < flat.size(); i++) {
            if (starts[i] >= 0 && !ends[i]) {
                weights.put(flat.get(i), any(sleeps, starts[i], i) ? AROUND_SLEEP : any(calls, starts[i], i) ? AROUND_CALLS
                        : any(counted, starts[i], i) ? AROUND_COUNTED : 1);
            }
        }
    }

    private static boolean sleeps(Instruction instruction) {
        boolean nap = instruction.opcode().equals("nanosleep") && instruction.operands().getFirst() instanceof Operand.Immediate(long ns, boolean _)
                && ns >= 0 && ns <= NAP_NS;
        return instruction.opcode().equals("nanosleep") && !nap || instruction.has("try_wait");
    }

    private void nest(int[] starts) {
        int[] opened = new int[flat.size() + 1];
        for (int i = 0; i < flat.size(); i++) {
            if (starts[i] >= 0) {
                opened[starts[i]]++;
                opened[i + 1]--;
            }
        }
        int depth = 0;
        for (int i = 0; i < flat.size(); i++) {
            depth += opened[i];
            if (depth > 0) {
                depths.put(flat.get(i), depth);
            }
        }
    }

    /** How many loops of the text enclose an instruction. */
    int depth(Instruction instruction) {
        return depths.getOrDefault(instruction, 0);
    }

    /** Shows all instructions that loops of the text enclose. */
    void inside(LoopCosts.Inside each) {
        for (Instruction instruction : flat) {
            int depth = depth(instruction);
            if (depth > 0) {
                each.take(instruction, depth);
            }
        }
    }

    /** How many of the instructions before each have a property: so that no text makes this more than linear. */
    private int[] sums(IntPredicate property) {
        int[] sums = new int[flat.size() + 1];
        for (int i = 0; i < flat.size(); i++) {
            sums[i + 1] = sums[i] + (property.test(i) ? 1 : 0);
        }
        return sums;
    }

    /** Whether an instruction from the first place to before the second has it. */
    private static boolean any(int[] sums, int from, int to) {
        return sums[to] > sums[from];
    }

    private void flatten(Block block) {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Block inner -> flatten(inner);
                case Label label -> {
                    // A name that blocks use twice counts as the first of them, which can only find more branches that go back.
                    labels.putIfAbsent(label.name(), flat.size());
                    newest = flat.size();
                }
                case TargetList list -> tables.put(list.name(), list.targets());
                case Instruction instruction -> {
                    flat.add(instruction);
                    lastLabel.add(newest);
                }
                default -> { }
            }
        }
    }

    /** Where a branch goes back to, or -1. */
    private int backTo(Instruction branch, int at) {
        int first = -1;
        for (String target : targets(branch)) {
            Integer place = labels.get(target);
            if (place != null && place <= at) {
                first = first < 0 ? place : Math.min(first, place);
            }
        }
        return first;
    }

    private List<String> targets(Instruction branch) {
        return switch (branch.opcode()) {
            case "bra" -> branch.operands().getFirst() instanceof Operand.Symbol(String name, long _) ? List.of(name)
                    : List.of();
            case "brx" -> branch.operands().getLast() instanceof Operand.Symbol(String name, long _)
                    ? tables.getOrDefault(name, List.of()) : List.of();
            default -> List.of();
        };
    }

    /** A loop whose last block counts a register up or down by a constant, and compares it with what the loop does not change. */
    private boolean isCounted(int start, int end) {
        Instruction branch = flat.get(end);
        if (!branch.opcode().equals("bra") || branch.guard().isEmpty() || branch.guard().get().negated()) {
            return false;
        }
        if (any(leaving, start, end) || any(backward, start, end)) {
            return false;
        }
        int block = Math.max(start, lastLabel.get(end));
        Instruction compare = onlyDefinition(branch.guard().get().register(), block, end, start, end);
        if (compare == null || !compare.opcode().equals("setp") || compare.modifiers().size() != 2
                || !(compare.operands().get(1) instanceof Operand.Register counter)
                || !compare.modifiers().get(1).endsWith("32") || changes(compare.operands().get(2), start, end)) {
            return false;
        }
        Instruction step = onlyDefinition(counter, block, end, start, end);
        boolean counts = step != null && (step.opcode().equals("add") || step.opcode().equals("sub"))
                && step.modifiers().size() == 1 && step.modifiers().getFirst().endsWith("32")
                && step.operands().get(1).equals(counter) && step.operands().get(2) instanceof Operand.Immediate;
        if (!counts) {
            return false;
        }
        long by = ((Operand.Immediate) step.operands().get(2)).value();
        Bound bound = bound(compare, step.opcode().equals("add") ? (int) by : (int) -by);
        if (bound != null) {
            bounds.put(compare, bound);
        }
        return bound != null;
    }

    /** The only instruction between two places that writes a register, if it is in the last block and has no guard. */
    private Instruction onlyDefinition(Operand.Register register, int block, int blockEnd, int start, int end) {
        Instruction found = null;
        for (int i = start; i < end; i++) {
            if (Definitions.writes(flat.get(i), register)) {
                if (found != null || i < block || i >= blockEnd || flat.get(i).guard().isPresent()) {
                    return null;
                }
                found = flat.get(i);
            }
        }
        return found;
    }

    private boolean changes(Operand operand, int start, int end) {
        if (operand instanceof Operand.Immediate) {
            return false;
        }
        return !(operand instanceof Operand.Register register)
                || flat.subList(start, end).stream().anyMatch(i -> Definitions.writes(i, register));
    }

    private static Bound bound(Instruction compare, int step) {
        boolean signed = compare.modifiers().get(1).equals("s32");
        long least = signed ? Integer.MIN_VALUE : 0;
        long most = signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        return switch (compare.modifiers().getFirst()) {
            case "ne" -> step == 0 ? null : new Bound(Integer.numberOfTrailingZeros(step), 0, false);
            case "lt", "lo" -> step <= 0 ? null : new Bound(0, most - step + 1, step > 1);
            case "gt", "hi" -> step >= 0 ? null : new Bound(0, least - step - 1, step < -1);
            default -> null;
        };
    }

    /** How much of the fuel a branch takes, or 0 where it need not look. */
    int weight(Instruction branch) {
        return weights.getOrDefault(branch, 0);
    }

    /** How a comparison has to be changed, or null. */
    Bound bound(Instruction compare) {
        return bounds.get(compare);
    }

    /** Whether anything takes fuel. */
    boolean any() {
        return !weights.isEmpty();
    }
}
