package io.tessera.cli.fence.machine;

import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.MachineOpcodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The differences between the code of a function and the same code with fences. Fencing keeps every instruction with its opcode, and their
 * order. It inserts instructions before accesses, traps and the first instruction, and after calls. Immutable as long as the code is not
 * modified.
 */
final class CodeChanges {
    private static final int AROUND = 2;
    private static final int MOVE_IMMEDIATE = 0x802;
    private static final int NO_OPERATION = 0x918;
    private static final int INSERTED = -1;
    /** The only architecture whose fenced code is shown. */
    private static final Architecture ARCHITECTURE = Architecture.SM_90;

    private final long[] before;
    private final long[] after;
    /** For each instruction of {@code after}, its index in {@code before}; -1: it belongs to a fence. */
    private final int[] origins;

    private CodeChanges(long[] before, long[] after, int[] origins) {
        this.before = before;
        this.after = after;
        this.origins = origins;
    }

    /**
     * Compares two codes of two words for each instruction.
     *
     * @throws MachineCodeException if an instruction of before is not found in its order
     */
    static CodeChanges between(long[] before, long[] after) throws MachineCodeException {
        int[] origins = new int[after.length / 2];
        BitSet found = new BitSet();
        int next = 0;
        int end = 0;
        for (int i = 0; i < origins.length; i++) {
            origins[i] = origin(before, next, after, i, found);
            if (origins[i] != INSERTED) {
                found.set(origins[i]);
                next = found.nextClearBit(next);
                end = i + 1;
            }
        }
        if (2 * next != before.length) {
            throw new MachineCodeException("the fenced code cannot be compared with the original", next * InstructionWord.BYTES);
        }
        for (int i = end; i < origins.length; i++) {
            if (key(after, i) != NO_OPERATION) {
                throw new MachineCodeException("the fenced code cannot be compared with the original", i * InstructionWord.BYTES);
            }
        }
        return new CodeChanges(before, after, Arrays.copyOf(origins, end)); // the padding at the section's end is not a fence
    }

    /** The instruction of before that one is, if the first that was not found is a certain one: this, or what was moved before it if it is an access. */
    private static int origin(long[] before, int next, long[] after, int i, BitSet found) {
        if (2 * next >= before.length) {
            return INSERTED;
        }
        if (same(before, next, after, i)) {
            return next;
        }
        int moved = found.nextClearBit(next + 1);
        MachineOpcode operation = MachineOpcodes.find(ARCHITECTURE, before[2 * next], before[2 * next + 1]);
        boolean passes = operation != null && operation.isGlobal() && 2 * moved < before.length && before[2 * moved] == after[2 * i]
                && key(before, moved) == key(after, i);
        return passes ? moved : INSERTED;
    }

    /**
     * Returns whether an instruction may be a given one of {@code before}: a fence differs from the instruction that follows it in its
     * opcode or its destination.
     */
    private static boolean same(long[] before, int i, long[] after, int j) {
        boolean jumps = jumps(before, i);
        return key(before, i) == key(after, j) && InstructionWord.predicate(before[2 * i]) == InstructionWord.predicate(after[2 * j])
                && (jumps || InstructionWord.destination(before[2 * i]) == InstructionWord.destination(after[2 * j]));
    }

    private static int key(long[] code, int i) {
        return InstructionWord.key(code[2 * i], code[2 * i + 1]);
    }

    /** Returns whether an instruction has a relative distance, which changes when code moves. */
    private static boolean jumps(long[] code, int i) {
        MachineOpcode operation = MachineOpcodes.find(ARCHITECTURE, code[2 * i], code[2 * i + 1]);
        return operation != null && switch (operation.kind()) {
            case BRANCH, INDIRECT_BRANCH, CALL, RETURN, COLLECTIVE, MEETING -> true;
            default -> false;
        };
    }

    private boolean isInserted(int i) {
        return origins[i] == INSERTED;
    }

    /** Returns whether an instruction has changed by more than a move. */
    private boolean isChanged(int i) {
        return !isInserted(i) && differs(i) && !isMoved(i);
    }

    private boolean differs(int i) {
        int from = 2 * origins[i];
        return before[from] != after[2 * i] || before[from + 1] != after[2 * i + 1];
    }

    /** Returns whether only a distance or a return address is different. */
    private boolean isMoved(int i) {
        int from = origins[i];
        if (isInserted(i) || !differs(i)) {
            return false;
        }
        long low = before[2 * from];
        long high = before[2 * from + 1];
        MachineOpcode operation = MachineOpcodes.find(ARCHITECTURE, low, high);
        boolean immediate = key(before, from) == MOVE_IMMEDIATE || operation != null && operation.kind() == Kind.MEETING;
        if (immediate) {
            return high == after[2 * i + 1] && InstructionWord.withImmediate(low, 0) == InstructionWord.withImmediate(after[2 * i], 0);
        }
        return jumps(before, from) && ARCHITECTURE.withDistanceLow(low, 0) == ARCHITECTURE.withDistanceLow(after[2 * i], 0)
                && ARCHITECTURE.withDistanceHigh(high, 0) == ARCHITECTURE.withDistanceHigh(after[2 * i + 1], 0);
    }

    /** Returns the number of instructions that belong to fences. */
    int inserted() {
        return count(this::isInserted);
    }

    /** Returns the number of instructions with other operands or control bits. */
    int changed() {
        return count(this::isChanged);
    }

    /** Returns the number of instructions that differ only in a distance or a return address. */
    int moved() {
        return count(this::isMoved);
    }

    private int count(IntPredicate which) {
        return (int) IntStream.range(0, origins.length).filter(which).count();
    }

    /**
     * Returns the changed instructions with their surroundings, at most half of the instructions of {@code before}, since the code is a
     * third party's.
     */
    List<String> lines(Style style) {
        List<String> lines = new ArrayList<>();
        lines.add(style.apply(Emphasis.HEADING,
                String.format(Locale.ROOT, "  %8s %8s  %-44s %s", "BEFORE", "AFTER", "INSTRUCTION", "WORDS (LOW, HIGH)")));
        int left = before.length / 4;
        int last = -1;
        for (int i = 0; i < origins.length; i++) {
            if (!isNear(i)) {
                continue;
            }
            if (!isInserted(i) && left-- == 0) {
                lines.add("  the rest is left out: no more than half of a kernel is printed");
                break;
            }
            if (i > last + 1) {
                lines.add("  ...");
            }
            line(i, style, lines);
            last = i;
        }
        return lines;
    }

    private boolean isNear(int i) {
        for (int j = Math.max(0, i - AROUND); j <= Math.min(origins.length - 1, i + AROUND); j++) {
            if (isInserted(j) || isChanged(j)) {
                return true;
            }
        }
        return false;
    }

    private void line(int i, Style style, List<String> lines) {
        if (isInserted(i)) {
            lines.add(style.apply(Emphasis.GOOD, line("+", "", offset(i), after, i)));
        } else if (isChanged(i)) {
            lines.add(style.apply(Emphasis.BAD, line("-", offset(origins[i]), "", before, origins[i])));
            lines.add(style.apply(Emphasis.GOOD, line("+", "", offset(i), after, i)));
        } else {
            lines.add(line(" ", offset(origins[i]), offset(i), after, i));
        }
    }

    private static String offset(int place) {
        return "0x" + Integer.toHexString(place * InstructionWord.BYTES);
    }

    private static String line(String mark, String from, String to, long[] code, int i) {
        return String.format(Locale.ROOT, "%s %8s %8s  %-44s %016x %016x", mark, from, to, InstructionText.of(code[2 * i], code[2 * i + 1], i),
                code[2 * i], code[2 * i + 1]);
    }
}
