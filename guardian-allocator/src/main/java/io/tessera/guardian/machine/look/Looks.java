package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/**
 * The looks at the stop word in a section. A look only counts if it is complete (see {@link LookWords}) and no other instruction of the section may
 * write the uniform registers and predicates of any look. Then its load reaches only the stop word, whatever other threads of the warp do in the
 * section, and a thread of the warp takes a branch to a look once in 2^32 divided by the step. All looks of a section have the same registers.
 * Immutable.
 */
public final class Looks {
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final long DISTANCE = 0x3ffff;
    private static final long DISTANCE_LOW = 0xffL << 16 | (1L << 30) - 1 << 34;

    private final SectionFlow flow;
    private final long stopAddress;
    /** Indexed by the branch to it: the first instruction of a look. */
    private final Map<Integer, Integer> looks = new TreeMap<>();
    /** Indexed by the branch to it: the amount that it adds to the counter. */
    private final Map<Integer, Long> steps = new TreeMap<>();
    private final BitSet loads = new BitSet();
    private final BitSet own = new BitSet();
    /** Null: there is no look. */
    private LookRegisters registers;

    private Looks(SectionFlow flow, long stopAddress) {
        this.flow = flow;
        this.stopAddress = stopAddress;
    }

    /** Those of a section, for the stop word of a fence. */
    public static Looks of(SectionFlow flow, MachineFence fence) {
        Looks looks = new Looks(flow, fence.stopAddress());
        if (fence.looks() && flow.architecture().hasLooks()) {
            looks.find();
            looks.requireOwn();
        }
        return looks;
    }

    private void find() {
        for (int i = 0; i < flow.count(); i++) {
            int first = flow.target(i);
            if (InstructionWord.key(flow.low(i), flow.high(i)) == 0x1547 && first != SectionFlow.NONE && isLook(i, first)) {
                looks.put(i, first);
                loads.set(first + LookWords.LOAD);
            }
        }
    }

    private boolean isLook(int branch, int first) {
        if (first <= branch || first + LookWords.COUNT > flow.count()) {
            return false;
        }
        int answer = first + LookWords.COUNT - 2;
        LookRegisters named = new LookRegisters(InstructionWord.uniformDestination(flow.low(first + LookWords.ADDRESS)), predicate(branch),
                predicate(answer));
        int register = InstructionWord.destination(flow.low(first + LookWords.LOAD));
        if (!arePossible(named) || register >= InstructionWord.ZERO_REGISTER || !isBranch(branch, named.due())
                || registers != null && !registers.equals(named)) {
            return false;
        }
        int sum = sum(branch, named);
        if (sum < 0 || !isBehind(first, branch, LookWords.behind(stopAddress, register, named))) {
            return false;
        }
        registers = named;
        steps.put(branch, flow.low(sum) >>> Integer.SIZE);
        own.set(sum);
        own.set(first, first + LookWords.COUNT);
        return true;
    }

    /** The predicate of a {@code BRA.U}. */
    private int predicate(int branch) {
        return (int) (flow.low(branch) >>> 24) & 0xf;
    }

    private static boolean arePossible(LookRegisters named) {
        return named.due() < InstructionWord.ALWAYS && named.goesOn() < InstructionWord.ALWAYS && named.due() != named.goesOn()
                && (named.uniforms() & 1) == 0 && named.uniforms() + LookWords.UNIFORMS <= InstructionWord.ZERO_UNIFORM;
    }

    private boolean isBranch(int at, int predicate) {
        return (flow.low(at) & ~DISTANCE_LOW) == LookWords.branch(predicate)
                && (flow.high(at) & WITHOUT_CONTROL & ~DISTANCE) == LookWords.branchHigh();
    }

    /** The sum that belongs to a branch, in its block and early enough; -1: there is none. */
    private int sum(int branch, LookRegisters named) {
        int cycles = 0;
        for (int i = branch - 1; i >= 0 && !flow.isLeader(i + 1); i--) {
            cycles += InstructionWord.cycles(flow.high(i));
            long step = flow.low(i) >>> Integer.SIZE;
            if (flow.low(i) == LookWords.add(named.counter(), (int) step, named.due()) && step >= LookWords.STEP && step <= 1L << 31
                    && (flow.high(i) & WITHOUT_CONTROL) == LookWords.addHigh(named.due())) {
                return cycles >= LookWords.BEFORE_BRANCH ? i : -1;
            }
            if ((PredicateFields.uniforms(flow.operation(i), flow.high(i)) >>> named.due() & 1) != 0) {
                return -1;
            }
        }
        return -1;
    }

    private boolean isBehind(int first, int branch, long[] words) {
        boolean same = flow.target(first + LookWords.COUNT - 2) == branch + 1
                && InstructionWord.waits(flow.high(first)) == 0x3f
                && cycles(first + LookWords.LOAD - 1) >= LookWords.BEFORE_LOAD && cycles(first + LookWords.LOAD + 1) >= LookWords.BEFORE_USE
                && cycles(first + LookWords.LOAD + 2) >= LookWords.BEFORE_USE && waits(first + LookWords.LOAD);
        for (int i = 0; i < LookWords.COUNT && same; i++) {
            boolean branches = i == LookWords.COUNT - 2;
            same = (flow.low(first + i) & ~(branches ? DISTANCE_LOW : 0)) == words[2 * i]
                    && (flow.high(first + i) & WITHOUT_CONTROL & ~(branches ? DISTANCE : 0)) == words[2 * i + 1]
                    && (i == 0 || flow.isOnlyFollowing(first + i)) && !InstructionWord.reuses(flow.high(first + i));
        }
        return same;
    }

    private int cycles(int at) {
        return InstructionWord.cycles(flow.high(at));
    }

    /** Returns whether the code after a load waits for it. */
    private boolean waits(int load) {
        int board = InstructionWord.writeScoreboard(flow.high(load));
        return board < 6 && (InstructionWord.waits(flow.high(load + 1)) >>> board & 1) != 0;
    }

    /** No look counts if another instruction may write the registers of looks. */
    private void requireOwn() {
        long uniforms = registers == null ? 0 : (1L << LookWords.UNIFORMS) - 1 << registers.uniforms();
        for (int i = 0; i < flow.count() && !looks.isEmpty(); i++) {
            MachineOpcode operation = flow.operation(i);
            boolean writes = (PredicateFields.uniforms(operation, flow.high(i)) & registers.predicates()) != 0;
            for (int u = 0; u < operation.uniforms(); u++) {
                writes |= (uniforms >>> InstructionWord.uniformDestination(flow.low(i)) + u & 1) != 0;
            }
            if (writes && !own.get(i)) {
                looks.clear();
                loads.clear();
            }
        }
    }

    /** Returns whether an instruction loads the stop word for a look. */
    public boolean isLoad(int at) {
        return loads.get(at);
    }

    /** Returns whether an instruction is part of a look. */
    public boolean isPart(int at) {
        return own.get(at);
    }

    /** Returns whether there are no looks. */
    public boolean isEmpty() {
        return looks.isEmpty();
    }

    /** Branches to looks that add this much to the counter, or more. */
    BitSet branches(long step) {
        BitSet branches = new BitSet();
        looks.keySet().stream().filter(branch -> steps.get(branch) >= step).forEach(branches::set);
        return branches;
    }
}
