package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.ResultTiming;
import java.util.Arrays;

/**
 * The general registers that hold the high word of an address in the window, at a place of the code. One owner thread.
 *
 * <p>A register becomes fenced by {@code MOV R, base} for windows of 4 GiB; by {@code OR R, R, base} and then {@code AND R, R, base + mask}; or by
 * {@code LOP3 R = R & mask | B} where B is a register that keeps the base. Under a predicate, the fence counts for accesses of the block under the
 * same predicate, until the predicate may have changed. {@link SummedAddresses} describes the fence of a sum. A result counts when it is ready:
 * {@link #at} sets the time.
 */
public final class FencedRegisters {
    private static final int WORDS = 4;
    /** Minimum number of cycles that ptxas leaves between a computation and a use of its result; then the same for results in uniform registers. */
    private static final int LEAST_STALL = 5;
    private static final int LEAST_UNIFORM_STALL = 6;
    private static final int LONG_AGO = Integer.MIN_VALUE;

    private final Architecture architecture;
    private final MachineFence fence;
    private final int baseRegister;
    private final long[] fenced = new long[WORDS];
    private final long[] based = new long[WORDS];
    /** Time at which each register of these sets was fenced; only registers fenced since {@link #latest} count. */
    private final int[] since = new int[InstructionWord.ZERO_REGISTER + 1];
    private final LocalFences local = new LocalFences();
    private final UniformBounds bounds = new UniformBounds();
    private int instruction;
    private int now;
    private int latest = LONG_AGO;

    /**
     * Creates a state in which nothing is known.
     *
     * @param architecture architecture of the executed instructions
     * @param baseRegister a register that keeps the base in all of the code; {@link InstructionWord#ZERO_REGISTER} if there is none
     */
    public FencedRegisters(Architecture architecture, MachineFence fence, int baseRegister) {
        this.architecture = architecture;
        this.fence = fence;
        this.baseRegister = baseRegister;
        Arrays.fill(since, LONG_AGO);
    }

    /** Sets the number of the next instruction and the time of its issue, in cycles from an origin that is the same for the whole block. */
    void at(int at, int cycles) {
        instruction = at;
        now = cycles;
    }

    /**
     * Records that an instruction was executed.
     *
     * @param settled whether no other instruction in flight writes its result or changes its predicate, so that it may be a fence
     */
    void after(long low, long high, MachineOpcode operation, boolean settled) {
        FenceStep step = FenceStep.of(architecture, low, high, fence, baseRegister);
        int bound = step == FenceStep.RAISE || step == FenceStep.LOWER ? bounds.of(FenceStep.bound(low), now - LEAST_UNIFORM_STALL) : 0;
        if (FenceStep.boundsSums(architecture, fence)) {
            uniforms(step, low, operation);
        }
        if (settled && fences(step, low, bound)) {
            return;
        }
        if (operation.registers() == MachineOpcode.MANY) {
            clear();
            return;
        }
        int first = InstructionWord.destination(low);
        for (int i = 0; i < operation.registers() && first + i < InstructionWord.ZERO_REGISTER; i++) {
            forget(first + i);
        }
        if (InstructionWord.reuses(high)) {
            forgetHanded(low, high);
        }
        if (!local.isEmpty()) {
            local.forgetUnder(ResultTiming.predicates(low, high));
        }
    }

    /** Forgets operands that an instruction keeps in the reuse cache: a later instruction may read the values from before a step of a fence. */
    private void forgetHanded(long low, long high) {
        for (int place = 0; place < InstructionWord.OPERANDS; place++) {
            int operand = InstructionWord.operand(low, high, place);
            for (int register = operand; register <= operand + 1; register++) {
                if (register < InstructionWord.ZERO_REGISTER && (!isReady(register) || local.isSince(register, now - LEAST_STALL + 1))) {
                    forget(register);
                }
            }
        }
    }

    private void uniforms(FenceStep step, long low, MachineOpcode operation) {
        bounds.after(instruction, step, low, operation, now);
        for (int u = 0; u < operation.uniforms() && !local.isEmpty(); u++) {
            local.forgetAdded(InstructionWord.uniformDestination(low) + u);
        }
    }

    /** Returns whether an instruction is a step of a fence in a general register: a register that is already fenced is not changed by it. */
    boolean isStep(long low, long high) {
        return FenceStep.of(architecture, low, high, fence, baseRegister).isOfRegister();
    }

    /** Takes an instruction of a fence; false if it is none. */
    private boolean fences(FenceStep step, long low, int bound) {
        int register = InstructionWord.destination(low);
        int predicate = InstructionWord.predicate(low);
        switch (step) {
            case NONE, LOWER_BOUND, UPPER_BOUND -> {
                return false;
            }
            case OR -> learn(LocalFences.What.BASED, register, predicate); // a high word in the window stays what it is
            case AND -> {
                if (!isKnown(based, LocalFences.What.BASED, register, predicate)) {
                    return false;
                }
                learn(LocalFences.What.FENCED, register, predicate);
            }
            case RAISE -> {
                forget(register); // it is in the window only together with what is added
                if (bound != 0 && (FenceStep.bound(low) & 1) == 0) {
                    local.learn(LocalFences.What.RAISED, register, predicate, bound, now);
                }
            }
            case LOWER -> {
                boolean raised = bound != 0 && (FenceStep.bound(low) & 1) == 1
                        && local.is(LocalFences.What.RAISED, register, predicate, bound, now - LEAST_STALL);
                forget(register);
                if (raised) {
                    local.learn(LocalFences.What.LIMITED, register, predicate, bound, now);
                }
            }
            default -> learn(LocalFences.What.FENCED, register, predicate);
        }
        return true;
    }

    private void learn(LocalFences.What what, int register, int predicate) {
        if (predicate != InstructionWord.ALWAYS) {
            local.learn(what, register, predicate, 0, now);
            return;
        }
        long[] set = what == LocalFences.What.BASED ? based : fenced;
        boolean longAgo = has(set, register) && isReady(register);
        set[register >>> 6] |= 1L << register;
        if (!longAgo) {
            since[register] = now;
            latest = now;
        }
    }

    private boolean isReady(int register) {
        return since[register] <= now - LEAST_STALL;
    }

    /** Records that a register may hold anything; {@link InstructionWord#ZERO_REGISTER} and above stand for none. */
    void forget(int register) {
        if (register >= InstructionWord.ZERO_REGISTER) {
            return;
        }
        fenced[register >>> 6] &= ~(1L << register);
        based[register >>> 6] &= ~(1L << register);
        if (!local.isEmpty()) {
            local.forget(register);
        }
    }

    private static boolean has(long[] set, int register) {
        return (set[register >>> 6] >>> register & 1) != 0;
    }

    private boolean isKnown(long[] always, LocalFences.What what, int register, int predicate) {
        return has(always, register) && isReady(register) || local.is(what, register, predicate, 0, now - LEAST_STALL);
    }

    /** Returns whether a register holds a high word in the window, for an access under a predicate. */
    public boolean isFenced(int register, int predicate) {
        return isKnown(fenced, LocalFences.What.FENCED, register, predicate);
    }

    /** Returns whether the sum of a high word and a uniform register's high word is in the window or next to it, for an access under a predicate. */
    public boolean isLimited(int register, int uniform, int predicate) {
        return local.is(LocalFences.What.LIMITED, register, predicate, uniform, now - LEAST_STALL);
    }

    /** Returns whether a pair of uniform registers, named by its lower one, holds the bounds for a high word. */
    public boolean areBounds(int pair, int uniform) {
        return bounds.of(pair, now) == uniform;
    }

    /** Assumes that a register is fenced here, by instructions that the rewriter will insert. */
    public void assume(int register, int predicate) {
        if (predicate == InstructionWord.ALWAYS) {
            fenced[register >>> 6] |= 1L << register;
            since[register] = LONG_AGO;
        } else {
            local.learn(LocalFences.What.FENCED, register, predicate, 0, LONG_AGO);
        }
    }

    /**
     * Assumes that a pair of uniform registers, named by its lower one, gets the bounds for a high word here, by instructions that the rewriter will
     * insert.
     */
    public void assumeBounds(int pair, int uniform) {
        bounds.assume(pair, uniform);
    }

    /** Forgets all facts. */
    public void clear() {
        Arrays.fill(fenced, 0);
        Arrays.fill(based, 0);
        local.clear();
        bounds.clear();
    }

    /** Assumes every fact, before the first path to a place is known. */
    void assumeAll() {
        Arrays.fill(fenced, -1);
        Arrays.fill(based, -1);
        bounds.assumeAll();
    }

    /** Takes what is known at the start of a block, where all of it is ready. */
    public void set(FencedRegisters other) {
        System.arraycopy(other.fenced, 0, fenced, 0, WORDS);
        System.arraycopy(other.based, 0, based, 0, WORDS);
        if (latest != LONG_AGO) {
            Arrays.fill(since, LONG_AGO);
            latest = LONG_AGO;
        }
        local.clear();
        bounds.set(other.bounds);
    }

    /** A register that is not ready at the end of a block is not known in the next one. */
    void leave() {
        for (int register = 0; latest > now - LEAST_STALL && register < InstructionWord.ZERO_REGISTER; register++) {
            if (!isReady(register)) {
                forget(register);
            }
        }
    }

    /** Keeps only the facts that also hold on another path to this place. Returns whether any was lost. */
    boolean meet(FencedRegisters other) {
        boolean less = bounds.meet(other.bounds, other.now - LEAST_UNIFORM_STALL);
        for (int i = 0; i < WORDS; i++) {
            less |= (fenced[i] & ~other.fenced[i]) != 0 || (based[i] & ~other.based[i]) != 0;
            fenced[i] &= other.fenced[i];
            based[i] &= other.based[i];
        }
        return less;
    }
}
