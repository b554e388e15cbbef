package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
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
final class FlatCode {
    private static final int[] NO_REGISTERS = {};

    private final List<Instruction> instructions;
    private final List<int[]> reads;
    private final List<int[]> writes;
    private final IntArray onlyResults = new IntArray();
    private final int[][] targets;
    private final Map<Instruction, Integer> indices;
    private final Map<Integer, Map<String, Variable>> symbols = new HashMap<>();
    private final RegisterNames names;
    private final List<PendingBranch> branches = new ArrayList<>();
    private final BitSet counters = new BitSet();
    private final BitSet readsResults = new BitSet();
    private final BitSet readsSpecial = new BitSet();
    private final BitSet cutsResults = new BitSet();
    /** Of the instruction that is being added. */
    private final IntArray read = new IntArray();
    private final IntArray written = new IntArray();
    private boolean complete = true;

    /** Labels and target lists of one block of statements. */
    private static final class Labels {
        private final Labels outer;
        private final Map<String, Integer> places = new HashMap<>();
        private final Map<String, TargetList> lists = new HashMap<>(4);

        private Labels(Labels outer) {
            this.outer = outer;
        }

        private Integer place(String name) {
            for (Labels each = this; each != null; each = each.outer) {
                Integer place = each.places.get(name);
                if (place != null) {
                    return place;
                }
            }
            return null;
        }

        private TargetList list(String name) {
            for (Labels each = this; each != null; each = each.outer) {
                TargetList list = each.lists.get(name);
                if (list != null) {
                    return list;
                }
            }
            return null;
        }
    }

    private record PendingBranch(int index, Labels labels) {
    }

    private FlatCode(PtxFunction function, PtxModule module) {
        names = new RegisterNames(function, module);
        Block body = function.body().orElseThrow();
        int about = body.statements().size();
        instructions = new ArrayList<>(about);
        reads = new ArrayList<>(about);
        writes = new ArrayList<>(about);
        indices = new IdentityHashMap<>(about);
        walk(body, null);
        targets = new int[instructions.size()][];
        Arrays.fill(targets, NO_REGISTERS);
        for (PendingBranch branch : branches) {
            targets[branch.index()] = resolve(branch);
        }
    }

    /** The code of a function with a body. */
    static FlatCode of(PtxFunction function, PtxModule module) {
        return new FlatCode(function, module);
    }

    private void walk(Block block, Labels outer) {
        Labels labels = new Labels(outer);
        names.enter();
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Instruction instruction -> add(instruction, labels);
                case Label label -> labels.places.put(label.name(), instructions.size());
                case TargetList list -> labels.lists.put(list.name(), list);
                case Block inner -> walk(inner, labels);
                default -> names.declare(statement);
            }
        }
        names.leave();
    }

    private void add(Instruction instruction, Labels labels) {
        int index = instructions.size();
        instructions.add(instruction);
        // The same object twice in a tree cannot be told apart: then nothing is proved.
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
            collect(index, operands.get(i), i < results ? written : read);
            if (i < results && readsThem) {
                collect(index, operands.get(i), read);
            }
            if (operands.get(i) instanceof Operand.SpecialRegister) {
                readsSpecial.set(index);
            }
        }
        reads.add(read.isEmpty() ? NO_REGISTERS : read.toArray());
        writes.add(written.isEmpty() ? NO_REGISTERS : written.toArray());
        boolean single = written.size() == 1 && operands.getFirst() instanceof Operand.Register;
        onlyResults.add(single ? written.get(0) : RegisterNames.NONE);
        noteCounter(instruction);
        if (instruction.opcode().equals("bra") || instruction.opcode().equals("brx")) {
            branches.add(new PendingBranch(index, labels));
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

    private void collect(int at, Operand operand, IntArray into) {
        switch (operand) {
            case Operand.Register register -> into.addIfNew(names.register(register.name()));
            case Operand.Component component -> into.addIfNew(names.register(component.name()));
            case Operand.Address(Operand.Register base, long ignored) -> into.addIfNew(names.register(base.name()));
            case Operand.Address(Operand.Named(String name), long ignored) -> symbol(at, name);
            case Operand.Address ignored -> {
                // An absolute address names no register.
            }
            case Operand.CompoundAddress compound -> compound.parts().forEach(part -> collect(at, part, into));
            case Operand.Vector vector -> vector.elements().forEach(element -> collect(at, element, into));
            case Operand.Pair pair -> {
                collect(at, pair.first(), into);
                collect(at, pair.second(), into);
            }
            case Operand.Not not -> collect(at, not.operand(), into);
            case Operand.Minus minus -> collect(at, minus.operand(), into);
            case Operand.Arguments arguments -> arguments.elements().forEach(element -> collect(at, element, into));
            case Operand.Symbol symbol -> symbol(at, symbol.name());
            case Operand.SpecialRegister ignored -> {
                // Read-only.
            }
            case Operand.Immediate ignored -> {
                // No register.
            }
            case Operand.Float32 ignored -> {
                // No register.
            }
            case Operand.Float64 ignored -> {
                // No register.
            }
            case Operand.Sink ignored -> {
                // Nobody wants it.
            }
        }
    }

    private void symbol(int at, String name) {
        Variable variable = names.variable(name);
        if (variable != null) {
            symbols.computeIfAbsent(at, unused -> new HashMap<>(2)).put(name, variable);
        }
    }

    private int[] resolve(PendingBranch branch) {
        Instruction instruction = instructions.get(branch.index());
        List<Operand> operands = instruction.operands();
        List<String> wanted = List.of();
        if (!operands.isEmpty() && operands.getLast() instanceof Operand.Symbol symbol) {
            if (instruction.opcode().equals("bra")) {
                wanted = List.of(symbol.name());
            } else {
                TargetList list = branch.labels().list(symbol.name());
                wanted = list == null ? List.of() : list.targets();
            }
        }
        int[] found = new int[wanted.size()];
        complete &= !wanted.isEmpty();
        for (int i = 0; i < found.length; i++) {
            Integer place = branch.labels().place(wanted.get(i));
            complete &= place != null;
            found[i] = place == null ? instructions.size() : place;
        }
        return found;
    }

    int size() {
        return instructions.size();
    }

    /** Whether all branches were understood; if not, nothing may be concluded. */
    boolean complete() {
        return complete;
    }

    Instruction instruction(int index) {
        return instructions.get(index);
    }

    /** The types of an instruction, in order. Not to be changed. */
    List<ScalarType> types(int index) {
        return instructions.get(index).types();
    }

    /** Whether what an instruction may write is perhaps only read, or read and written. */
    boolean readsItsResults(int index) {
        return readsResults.get(index);
    }

    /** Whether an operand of it is a special register. */
    boolean readsSpecial(int index) {
        return readsSpecial.get(index);
    }

    /** Whether it gives another number where its result is too large, or negative. */
    boolean cutsItsResult(int index) {
        return cutsResults.get(index);
    }

    /** Index of an instruction of this function, by identity, or -1. */
    int indexOf(Instruction instruction) {
        return indices.getOrDefault(instruction, -1);
    }

    /** Registers that it reads, its guard and what is in addresses included. Not to be changed. */
    int[] reads(int index) {
        return reads.get(index);
    }

    /** Registers that it may write. Not to be changed. */
    int[] writes(int index) {
        return writes.get(index);
    }

    /** Where a branch goes. Not to be changed. */
    int[] targets(int index) {
        return targets[index];
    }

    int registers() {
        return names.count();
    }

    ScalarType type(int register) {
        return names.type(register);
    }

    String name(int register) {
        return names.name(register);
    }

    boolean plain(int register) {
        return names.plain(register);
    }

    /** The variable that a name means in an instruction, or null. */
    Variable variable(int index, String name) {
        Map<String, Variable> known = symbols.get(index);
        return known == null ? null : known.get(name);
    }

    /** Whether some instruction adds something to a register and writes the sum to it. */
    boolean counts(int register) {
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

    /** Whether it has no other results than its first operand, a register, and which that is; else -1. */
    int onlyResult(int index) {
        return onlyResults.get(index);
    }
}
