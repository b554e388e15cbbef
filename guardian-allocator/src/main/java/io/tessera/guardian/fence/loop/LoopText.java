package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The loops of a function by its text alone, independent of any proofs: branches that go back, and the instructions that they enclose. Not
 * thread-safe.
 */
public final class LoopText {
    /** An iteration with a sleep of this length takes no longer than others do. */
    private static final int NAP_NS = 100;

    /**
     * A loop that counts to a bound in 32 bits.
     *
     * @param compare the comparison that ends it
     * @param bound   the changes that make it certain to end
     * @param step    increment of its counter per iteration
     * @param parted  whether it can be left and entered again after any iteration: its head is the only entry, and the compared value is the counter
     *                at the branch
     */
    public record Counted(Instruction compare, LoopBound bound, int step, boolean parted) {
    }

    private final List<Instruction> flat = new ArrayList<>();
    private final List<Integer> lastLabel = new ArrayList<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final Map<Integer, String> lastNames = new HashMap<>();
    private final Map<String, List<String>> tables = new HashMap<>();
    /** Instructions that follow a statement that is neither code nor a source line: lists, and hints for the compilation of a loop. */
    private final BitSet others = new BitSet();
    private final Map<Integer, Optional<Counted>> counted = new HashMap<>();
    private final int[] starts;
    /** The first and the last branch that lead to each place; a table leads there from everywhere. */
    private final int[] firstFrom;
    private final int[] lastFrom;
    /** Prefix sums over the instructions, by property: no text makes the check of a loop more than linear. */
    private final int[] backward;
    private final int[] leaving;
    private final int[] calls;
    private final int[] sleeps;
    /** Number of loops that enclose each instruction. */
    private final int[] nesting;
    private int newest;
    private Map<String, Integer> sums;

    /** Finds the loops of a body. */
    public LoopText(Block body) {
        flatten(body);
        starts = new int[flat.size()];
        firstFrom = new int[flat.size() + 1];
        lastFrom = new int[flat.size() + 1];
        Arrays.fill(firstFrom, Integer.MAX_VALUE);
        Arrays.fill(lastFrom, -1);
        boolean any = false;
        for (int i = 0; i < flat.size(); i++) {
            starts[i] = backTo(flat.get(i), i);
            any |= starts[i] >= 0;
            lead(i);
        }
        // Without loops, the sums are not needed.
        int sums = any ? flat.size() + 1 : 0;
        backward = new int[sums];
        leaving = new int[sums];
        calls = new int[sums];
        sleeps = new int[sums];
        nesting = new int[sums];
        if (any) {
            count();
            nest();
        }
    }

    private void lead(int at) {
        boolean table = flat.get(at).opcode().equals("brx");
        for (String target : targets(flat.get(at))) {
            Integer place = labels.get(target);
            if (place != null) {
                firstFrom[place] = Math.min(firstFrom[place], table ? -1 : at);
                lastFrom[place] = Math.max(lastFrom[place], table ? Integer.MAX_VALUE : at);
            }
        }
    }

    /** Returns the index of the first instruction of the loop that begins at a label. */
    int place(String label) {
        return labels.getOrDefault(label, -1);
    }

    /** The last of the labels that name a place. */
    String lastName(int place) {
        return lastNames.get(place);
    }

    private void count() {
        for (int i = 0; i < flat.size(); i++) {
            Instruction instruction = flat.get(i);
            boolean call = instruction.opcode().equals("call");
            backward[i + 1] = backward[i] + (starts[i] >= 0 ? 1 : 0);
            leaving[i + 1] = leaving[i] + (call || instruction.opcode().equals("brx") ? 1 : 0);
            calls[i + 1] = calls[i] + (call ? 1 : 0);
            sleeps[i + 1] = sleeps[i] + (sleeps(instruction) ? 1 : 0);
        }
    }

    /** All instructions, in order. */
    List<Instruction> instructions() {
        return flat;
    }

    /** Returns whether any branch goes back. */
    boolean hasLoops() {
        return nesting.length > 0;
    }

    /** The place that an instruction goes back to; below 0: it does not. */
    int start(int at) {
        return starts[at];
    }

    /** Returns the counter of an innermost counted loop that the instruction at an index closes, if it does. */
    Optional<Counted> counted(int at) {
        return counted.computeIfAbsent(at, each -> Optional.ofNullable(findCounted(starts[each], each)));
    }

    boolean calls(int from, int to) {
        return any(calls, from, to);
    }

    boolean sleeps(int from, int to) {
        return any(sleeps, from, to);
    }

    /**
     * Returns a pass of the loop that is closed at an index, or null. The loop must be a single block that ends only by this branch, must have no
     * compilation hint, and must be allowed this number of copies.
     */
    RepeatedPass repeated(int at, int copies) {
        int start = starts[at];
        int other = others.nextSetBit(start);
        if (!flat.get(at).opcode().equals("bra") || flat.get(at).guard().isEmpty() || lastLabel.get(at) != start || other >= 0 && other <= at) {
            return null;
        }
        return RepeatedPass.of(flat.subList(start, at), copies, this::sums);
    }

    private Map<String, Integer> sums() {
        sums = sums == null ? RepeatedPass.sums(flat) : sums;
        return sums;
    }

    /** Returns the number of loops of the text that enclose the instruction at an index. */
    int depth(int at) {
        return hasLoops() ? nesting[at] : 0;
    }

    /** Returns whether an instruction may take as long as a sleep. */
    static boolean sleeps(Instruction instruction) {
        boolean nap = instruction.opcode().equals("nanosleep") && instruction.operands().getFirst() instanceof Operand.Immediate(long ns, boolean _)
                && ns >= 0 && ns <= NAP_NS;
        return instruction.opcode().equals("nanosleep") && !nap || instruction.has("try_wait");
    }

    private void nest() {
        for (int i = 0; i < flat.size(); i++) {
            if (starts[i] >= 0) {
                nesting[starts[i]]++;
                nesting[i + 1]--;
            }
        }
        int depth = 0;
        for (int i = 0; i < flat.size(); i++) {
            depth += nesting[i];
            nesting[i] = depth;
        }
    }

    /** Returns whether an instruction in the half-open range has the property. */
    static boolean any(int[] sums, int from, int to) {
        return sums[to] > sums[from];
    }

    private void flatten(Block block) {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Label label -> {
                    labels.put(label.name(), flat.size());
                    lastNames.put(flat.size(), label.name());
                    newest = flat.size();
                }
                case TargetList list -> {
                    tables.put(list.name(), list.targets());
                    others.set(flat.size());
                }
                case Instruction instruction -> {
                    flat.add(instruction);
                    lastLabel.add(newest);
                }
                case Location _ -> {}
                default -> others.set(flat.size());
            }
        }
    }

    /** Returns the target of a branch that goes back, or -1. */
    private int backTo(Instruction branch, int at) {
        if (!branch.opcode().startsWith("br")) {
            return -1;
        }
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
    private Counted findCounted(int start, int end) {
        Instruction branch = flat.get(end);
        if (!branch.opcode().equals("bra") || branch.guard().isEmpty() || branch.guard().get().negated()) {
            return null;
        }
        if (any(leaving, start, end) || any(backward, start, end)) {
            return null;
        }
        int block = Math.max(start, lastLabel.get(end));
        Instruction compare = onlyDefinition(branch.guard().get().register(), block, end, start, end);
        if (compare == null || !compare.opcode().equals("setp") || compare.modifiers().size() != 2
                || !(compare.operands().get(1) instanceof Operand.Register counter)
                || !compare.modifiers().get(1).endsWith("32") || changes(compare.operands().get(2), start, end)) {
            return null;
        }
        Instruction step = onlyDefinition(counter, block, end, start, end);
        boolean counts = step != null && (step.opcode().equals("add") || step.opcode().equals("sub"))
                && step.modifiers().size() == 1 && step.modifiers().getFirst().endsWith("32")
                && step.operands().get(1).equals(counter) && step.operands().get(2) instanceof Operand.Immediate;
        if (!counts) {
            return null;
        }
        long by = ((Operand.Immediate) step.operands().get(2)).value();
        int gain = step.opcode().equals("add") ? (int) by : (int) -by;
        LoopBound bound = bound(compare, gain);
        return bound == null ? null : new Counted(compare, bound, gain, parted(compare, step, start, end));
    }

    private boolean parted(Instruction compare, Instruction step, int start, int end) {
        // A table that leads to the head would not find the way round it.
        if (firstFrom[start] < 0 || !(compare.operands().getFirst() instanceof Operand.Register)) {
            return false;
        }
        for (int i = start + 1; i <= end; i++) {
            if (firstFrom[i] < start || lastFrom[i] > end) {
                return false;
            }
        }
        for (int i = end; i >= start && flat.get(i) != compare; i--) {
            if (flat.get(i) == step) {
                return false;
            }
        }
        return true;
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

    private static LoopBound bound(Instruction compare, int step) {
        boolean signed = compare.modifiers().get(1).equals("s32");
        long least = signed ? Integer.MIN_VALUE : 0;
        long most = signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        return switch (compare.modifiers().getFirst()) {
            case "ne" -> step == 0 ? null : new LoopBound(Integer.numberOfTrailingZeros(step), 0, false);
            case "lt", "lo" -> step <= 0 ? null : new LoopBound(0, most - step + 1, step > 1);
            case "gt", "hi" -> step >= 0 ? null : new LoopBound(0, least - step - 1, step < -1);
            default -> null;
        };
    }
}
