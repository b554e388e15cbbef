package io.tessera.software.matrix;

import io.tessera.software.execution.ThreadState;
import io.tessera.software.execution.ThreadState.WarpFunction;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tensor core instructions that follow each other, as one function of a warp: its lanes meet once for all of them. Each lane's
 * values have slots; the first are what it gives, in the order of {@link #given}. Immutable.
 */
public final class WarpSequence implements WarpFunction {
    /** Instructions of the longest sequence: beyond, code gets long and meeting costs little. */
    private static final int LONGEST = 64;
    private static final int LANES = 32;

    private final List<WarpStep> steps;
    private final List<LoweredOperand> given;
    private final List<Result> results;
    private final int slots;
    private final int fragments;

    /** A register that a lane takes its value of from a slot. */
    public record Result(LoweredOperand.Register register, int slot) {
    }

    private WarpSequence(Builder builder) {
        this.steps = List.copyOf(builder.steps);
        this.given = List.copyOf(builder.given.keySet());
        this.results = builder.results.entrySet().stream().map(e -> new Result(e.getKey(), e.getValue())).toList();
        this.slots = builder.slots;
        this.fragments = builder.fragments.size();
    }

    /** Returns whether an instruction can be part of one. */
    public static boolean takes(Opcode opcode) {
        return switch (opcode) {
            case MMA, LDMATRIX, STMATRIX, MOVMATRIX -> true;
            default -> false;
        };
    }

    /**
     * Returns how many of the instructions, from the first on, can be one sequence: an address must not come out of it.
     *
     * @param instructions that {@link #takes} accepts, at least one
     */
    public static int length(List<LoweredInstruction> instructions) {
        List<LoweredOperand> written = new ArrayList<>();
        for (int i = 0; i < instructions.size(); i++) {
            for (LoweredOperand argument : instructions.get(i).arguments()) {
                if (i == LONGEST || argument instanceof LoweredOperand.Address address && written.contains(address.register())) {
                    return i;
                }
            }
            written.addAll(instructions.get(i).results());
        }
        return instructions.size();
    }

    /**
     * Makes one of instructions of one function.
     *
     * @throws UnsupportedOperationException if a form of them is lacking
     */
    public static WarpSequence of(List<LoweredInstruction> instructions) {
        Builder builder = new Builder();
        instructions.forEach(builder::read);
        builder.slots = builder.given.size();
        instructions.forEach(builder::add);
        return new WarpSequence(builder);
    }

    /** Returns the results of each lane, in the order of slots. */
    public List<LoweredOperand> given() {
        return given;
    }

    /** Returns the arguments of each lane. */
    public List<Result> results() {
        return results;
    }

    /** Returns the thread's room for all slots. */
    public long[] room(ThreadState thread) {
        if (thread.values == null || thread.values.length < slots) {
            thread.values = new long[slots];
        }
        return thread.values;
    }

    @Override
    public void apply(ThreadState[] threads, int first, int members) {
        long[][] values = new long[LANES][];
        for (int lane = 0; lane < LANES; lane++) {
            values[lane] = (members >>> lane & 1) != 0 ? threads[first + lane].values : new long[slots];
        }
        WarpStep.Lanes lanes = new WarpStep.Lanes(values, members, threads[first].block, first, new double[fragments][]);
        for (WarpStep step : steps) {
            step.apply(lanes);
        }
    }

    /** Numbers slots: first those of operands that are read before they are written, then those of results. */
    private static final class Builder {
        final List<WarpStep> steps = new ArrayList<>();
        final Map<LoweredOperand, Integer> given = new LinkedHashMap<>();
        final Map<LoweredOperand.Register, Integer> results = new LinkedHashMap<>();
        final Map<List<Object>, Integer> fragments = new HashMap<>();
        private final Set<LoweredOperand> written = new HashSet<>();
        private final Map<Integer, Integer> versions = new HashMap<>();
        private int slots;

        void read(LoweredInstruction instruction) {
            for (LoweredOperand argument : instruction.arguments()) {
                if (!written.contains(argument)) {
                    given.putIfAbsent(argument, given.size());
                }
            }
            written.addAll(instruction.results());
        }

        void add(LoweredInstruction instruction) {
            int[] from = instruction.arguments().stream().mapToInt(this::slot).toArray();
            int[] to = instruction.results().stream().mapToInt(this::resultSlot).toArray();
            steps.add(instruction.opcode() == Opcode.MMA ? multiply(instruction, from, to)
                    : MatrixRows.of(instruction, from, to));
            Arrays.stream(to).forEach(slot -> versions.merge(slot, 1, Integer::sum));
        }

        private WarpStep multiply(LoweredInstruction instruction, int[] from, int[] to) {
            MultiplyAdd operation = MultiplyAdd.of(instruction);
            int b = operation.registersOfA();
            int c = b + operation.registersOfB();
            int[] ofA = Arrays.copyOfRange(from, 0, b);
            int[] ofB = Arrays.copyOfRange(from, b, c);
            return operation.step(ofA, fragment("a", operation, ofA), ofB, fragment("b", operation, ofB),
                    Arrays.copyOfRange(from, c, from.length), to);
        }

        /** Number of a fragment: the same for what has the same contents, read the same way. */
        private int fragment(String side, MultiplyAdd operation, int[] registers) {
            List<Object> key = new ArrayList<>(List.of(side, operation));
            for (int slot : registers) {
                key.add(slot);
                key.add(versions.getOrDefault(slot, 0));
            }
            return fragments.computeIfAbsent(key, k -> fragments.size());
        }

        private int slot(LoweredOperand argument) {
            Integer result = argument instanceof LoweredOperand.Register register ? results.get(register) : null;
            return result != null ? result : given.get(argument);
        }

        private int resultSlot(LoweredOperand result) {
            return result instanceof LoweredOperand.Register register ? results.computeIfAbsent(register, r -> {
                Integer same = given.get(r);
                return same != null ? same : slots++;
            }) : slots++;
        }
    }
}
