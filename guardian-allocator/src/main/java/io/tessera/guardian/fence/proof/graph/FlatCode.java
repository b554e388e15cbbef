package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The instructions of a function in the order of the text, with names resolved: registers are numbers, labels are indices of
 * instructions. An index equal to {@link #size()} is the end of the body. Not thread-safe while it is built, immutable after.
 */
public final class FlatCode {
    private static final int[] NO_REGISTERS = {};

    private final List<Instruction> instructions;
    private final List<int[]> reads;
    private final List<int[]> writes;
    private final IntArray onlyResults = new IntArray();
    private final int[][] targets;
    private final Map<Instruction, Integer> indices;
    private final RegisterNames names;
    private final Map<String, Integer> places = new HashMap<>();
    private final Map<String, TargetList> lists = new HashMap<>(4);
    private final List<Integer> branches = new ArrayList<>();
    private final BitSet counters = new BitSet();
    private final BitSet readsResults = new BitSet();
    private final BitSet cutsResults = new BitSet();
    /** The registers that the instruction being added reads. */
    private final IntArray read = new IntArray();
    private final IntArray written = new IntArray();
    private boolean complete = true;

    private FlatCode(PtxFunction function, AnalysedModule module) {
        names = new RegisterNames(function, module);
        Block body = function.body().orElseThrow();
        int about = body.statements().size();
        instructions = new ArrayList<>(about);
        reads = new ArrayList<>(about);
        writes = new ArrayList<>(about);
        indices = new IdentityHashMap<>(about);
        for (Statement statement : body.statements()) {
            switch (statement) {
                case Instruction instruction -> add(instruction);
                case Label label -> places.put(label.name(), instructions.size());
                case TargetList list -> lists.put(list.name(), list);
                default -> {
                    // Not executed.
                }
            }
        }
        targets = new int[instructions.size()][];
        Arrays.fill(targets, NO_REGISTERS);
        for (int branch : branches) {
            targets[branch] = resolve(branch);
        }
    }

    /** The code of a function with a body. */
    static FlatCode of(PtxFunction function, AnalysedModule module) {
        return new FlatCode(function, module);
    }

    private void add(Instruction instruction) {
        int index = instructions.size();
        instructions.add(instruction);
        // If one object occurs twice in a tree, its occurrences cannot be distinguished; then nothing is proved.
        complete &= indices.put(instruction, index) == null;
        read.clear();
        written.clear();
        if (instruction.guard().isPresent()) {
            read.addIfNew(names.register(instruction.guard().get().register().name()));
        }
        List<Operand> operands = instruction.operands();
        boolean readsThem = Effects.readsItsResults(instruction);
        readsResults.set(index, readsThem);
        cutsResults.set(index, instruction.has("sat") || instruction.has("relu"));
        int results = Effects.results(instruction);
        for (int i = 0; i < operands.size(); i++) {
            collect(operands.get(i), i < results ? written : read);
            if (i < results && readsThem) {
                collect(operands.get(i), read);
            }
        }
        reads.add(read.isEmpty() ? NO_REGISTERS : read.toArray());
        writes.add(written.isEmpty() ? NO_REGISTERS : written.toArray());
        boolean single = written.size() == 1 && operands.getFirst() instanceof Operand.Register;
        onlyResults.add(single ? written.get(0) : RegisterNames.NONE);
        noteCounter(instruction);
        if (instruction.opcode().equals("bra") || instruction.opcode().equals("brx")) {
            branches.add(index);
        }
    }

    private void noteCounter(Instruction instruction) {
        boolean counts = (instruction.opcode().equals("add") || instruction.opcode().equals("sub"))
                && instruction.operands().size() == 3
                && instruction.operands().getFirst().equals(instruction.operands().get(1));
        if (counts && instruction.operands().getFirst() instanceof Operand.Register register
                && names.register(register.name()) != RegisterNames.NONE) {
            counters.set(names.register(register.name()));
        }
    }

    private void collect(Operand operand, IntArray into) {
        operand.registers(name -> into.addIfNew(names.register(name)));
    }

    private int[] resolve(int branch) {
        Instruction instruction = instructions.get(branch);
        List<Operand> operands = instruction.operands();
        List<String> wanted = List.of();
        if (!operands.isEmpty() && operands.getLast() instanceof Operand.Symbol symbol) {
            if (instruction.opcode().equals("bra")) {
                wanted = List.of(symbol.name());
            } else {
                TargetList list = lists.get(symbol.name());
                wanted = list == null ? List.of() : list.targets();
            }
        }
        int[] found = new int[wanted.size()];
        complete &= !wanted.isEmpty();
        for (int i = 0; i < found.length; i++) {
            Integer place = places.get(wanted.get(i));
            complete &= place != null;
            found[i] = place == null ? instructions.size() : place;
        }
        return found;
    }

    /** Returns the number of instructions. */
    public int size() {
        return instructions.size();
    }

    /** Returns whether all branches were understood; if not, nothing may be concluded. */
    boolean complete() {
        return complete;
    }

    /** The instruction of that index. */
    public Instruction instruction(int index) {
        return instructions.get(index);
    }

    /** The types of an instruction, in order. Not to be changed. */
    public List<ScalarType> types(int index) {
        return instructions.get(index).types();
    }

    /** Returns whether an operand that an instruction may write may instead only be read, or be read and written. */
    public boolean readsItsResults(int index) {
        return readsResults.get(index);
    }

    /** Returns whether it saturates its result or sets a negative one to zero. */
    public boolean cutsItsResult(int index) {
        return cutsResults.get(index);
    }

    /** Index of an instruction of this function, by identity, or -1. */
    public int indexOf(Instruction instruction) {
        return indices.getOrDefault(instruction, -1);
    }

    /** Registers that it reads, its guard and what is in addresses included. Not to be changed. */
    public int[] reads(int index) {
        return reads.get(index);
    }

    /** Registers that it may write. Not to be changed. */
    public int[] writes(int index) {
        return writes.get(index);
    }

    /** Returns the targets of a branch. Must not be changed. */
    public int[] targets(int index) {
        return targets[index];
    }

    int registers() {
        return names.count();
    }

    /** The type of a register. */
    public ScalarType type(int register) {
        return names.type(register);
    }

    /** The name of a register. */
    public String name(int register) {
        return names.name(register);
    }

    /** The variable of a name, or null. */
    public Variable variable(String name) {
        return names.variable(name);
    }

    /** Returns whether some instruction adds to a register and writes the sum to it. */
    public boolean counts(int register) {
        return counters.get(register);
    }

    /** Position of the first read (of {@link #reads}) whose register has that name, or -1. */
    int readOf(int index, String name) {
        int[] registers = reads.get(index);
        for (int i = 0; i < registers.length; i++) {
            if (names.name(registers[i]).equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the register in its first operand if that is its only result; otherwise -1. */
    public int onlyResult(int index) {
        return onlyResults.get(index);
    }
}
