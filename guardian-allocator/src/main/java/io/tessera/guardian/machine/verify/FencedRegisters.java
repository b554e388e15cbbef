package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.Arrays;

/**
 * Which general registers hold the high word of an address in the window, at a place of the code. One owner thread.
 *
 * <p>What makes a register one: {@code MOV R, base} for windows of 4 GiB; {@code OR R, R, base} and then {@code AND R, R, base + mask}; {@code LOP3 R = R & mask | B} where B is a
 * register that keeps the base. Under a predicate it counts for the accesses that follow at once under the same predicate.
 */
public final class FencedRegisters {
    private static final int WORDS = 4;
    /** Cycles that ptxas leaves at least between a computation and a memory access by its result. */
    private static final int LEAST_STALL = 5;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final int MOV = 0x802;
    private static final int LOGIC = 0x812;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;
    private static final int AND_OR = 0xea;
    private static final long LOP3 = 0x078e0000L;
    private static final long MOV_ALL_BYTES = 0xf00;

    private final MachineFence fence;
    private final int baseRegister;
    private final long[] fenced = new long[WORDS];
    private final long[] based = new long[WORDS];
    private final long[] fencedNow = new long[WORDS];
    private final long[] basedNow = new long[WORDS];
    private int predicateNow = InstructionWord.ALWAYS;

    /**
     * Nothing is known.
     *
     * @param baseRegister a register that keeps the base in all of the code; {@link InstructionWord#ZERO_REGISTER}: none
     */
    public FencedRegisters(MachineFence fence, int baseRegister) {
        this.fence = fence;
        this.baseRegister = baseRegister;
    }

    /** An instruction was executed. */
    public void after(long low, long high, MachineOpcode operation) {
        after(low, high, operation, true);
    }

    /**
     * An instruction was executed.
     *
     * @param settled whether nothing else that is in flight writes its result or changes its predicate, so that it may be a fence
     */
    void after(long low, long high, MachineOpcode operation, boolean settled) {
        if (!settled || !fences(low, high)) {
            forgetPredicated();
            if (operation.registers() == MachineOpcode.MANY) {
                clear();
            } else {
                int first = InstructionWord.destination(low);
                for (int i = 0; i < operation.registers() && first + i < InstructionWord.ZERO_REGISTER; i++) {
                    forget(first + i);
                }
            }
        }
    }

    /** The steps of a fence. */
    private enum Step {
        NONE, MOVE, OR, AND, AND_OR
    }

    /** Whether an instruction is a step of a fence: for a register that is fenced already it changes nothing. */
    boolean isStep(long low, long high) {
        return step(low, high) != Step.NONE;
    }

    private Step step(long low, long high) {
        int register = InstructionWord.destination(low);
        int immediate = InstructionWord.immediate(low);
        long rest = high & WITHOUT_CONTROL;
        int key = (int) low & 0xfff;
        if (key != MOV && key != LOGIC || register == InstructionWord.ZERO_REGISTER || register == baseRegister
                || InstructionWord.cycles(high) < LEAST_STALL || InstructionWord.reuses(high)) {
            return Step.NONE;
        }
        if (key == MOV) {
            boolean base = (low & 0xff000000L) == 0 && rest == MOV_ALL_BYTES && immediate == fence.baseHigh() && fence.mask() == 0;
            return base ? Step.MOVE : Step.NONE;
        }
        int third = (int) rest & 0xff;
        int table = (int) (rest >>> 8) & 0xff;
        if (InstructionWord.source(low) != register || rest != (LOP3 | third | (long) table << 8)) {
            return Step.NONE;
        }
        boolean alone = third == InstructionWord.ZERO_REGISTER;
        if (table == OR && alone && immediate == fence.baseHigh()) {
            return Step.OR;
        }
        if (table == AND && alone && immediate == (fence.baseHigh() | fence.mask())) {
            return Step.AND;
        }
        return table == AND_OR && third == baseRegister && !alone && immediate == fence.mask() ? Step.AND_OR : Step.NONE;
    }

    /** Takes an instruction of a fence; false if it is none. */
    private boolean fences(long low, long high) {
        int register = InstructionWord.destination(low);
        int predicate = InstructionWord.predicate(low);
        switch (step(low, high)) {
            case NONE -> {
                return false;
            }
            case OR -> {
                forget(register); // only what it becomes by the next one counts
                learn(based, basedNow, register, predicate);
            }
            case AND -> {
                if (!has(based, register) && !(predicate == predicateNow && has(basedNow, register))) {
                    return false;
                }
                learn(fenced, fencedNow, register, predicate);
            }
            default -> learn(fenced, fencedNow, register, predicate);
        }
        return true;
    }

    private void learn(long[] always, long[] now, int register, int predicate) {
        if (predicate == InstructionWord.ALWAYS) {
            always[register >>> 6] |= 1L << register;
            return;
        }
        if (predicate != predicateNow) {
            forgetPredicated();
            predicateNow = predicate;
        }
        now[register >>> 6] |= 1L << register;
    }

    private void forgetPredicated() {
        if (predicateNow != InstructionWord.ALWAYS) {
            predicateNow = InstructionWord.ALWAYS;
            Arrays.fill(fencedNow, 0);
            Arrays.fill(basedNow, 0);
        }
    }

    /** A register may hold anything; {@link InstructionWord#ZERO_REGISTER} and above stand for none. */
    void forget(int register) {
        if (register >= InstructionWord.ZERO_REGISTER) {
            return;
        }
        fenced[register >>> 6] &= ~(1L << register);
        based[register >>> 6] &= ~(1L << register);
        fencedNow[register >>> 6] &= ~(1L << register);
        basedNow[register >>> 6] &= ~(1L << register);
    }

    private static boolean has(long[] set, int register) {
        return (set[register >>> 6] >>> register & 1) != 0;
    }

    /** Whether a register holds a high word in the window, for an access under a predicate. */
    public boolean isFenced(int register, int predicate) {
        return has(fenced, register) || predicate == predicateNow && has(fencedNow, register);
    }

    /** A register is fenced by instructions that are to be put in here. */
    public void assume(int register) {
        fenced[register >>> 6] |= 1L << register;
    }

    /** Nothing is known. */
    public void clear() {
        Arrays.fill(fenced, 0);
        Arrays.fill(based, 0);
        forgetPredicated();
    }

    /** Everything is assumed, before the first way to a place is known. */
    void assumeAll() {
        Arrays.fill(fenced, -1);
        Arrays.fill(based, -1);
    }

    /** Takes what is known at the start of a block. */
    public void set(FencedRegisters other) {
        System.arraycopy(other.fenced, 0, fenced, 0, WORDS);
        System.arraycopy(other.based, 0, based, 0, WORDS);
        forgetPredicated();
    }

    /** Keeps what is known on another way to this place, too. Returns whether that is less. */
    boolean meet(FencedRegisters other) {
        boolean less = false;
        for (int i = 0; i < WORDS; i++) {
            less |= (fenced[i] & ~other.fenced[i]) != 0 || (based[i] & ~other.based[i]) != 0;
            fenced[i] &= other.fenced[i];
            based[i] &= other.based[i];
        }
        return less;
    }
}
