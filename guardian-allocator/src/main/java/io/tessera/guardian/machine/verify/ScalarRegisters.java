package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.ResultTiming;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Facts about the registers at a place of a kernel's code: the uniform registers, and the general registers and the stack, where compilers also keep
 * uniform values. General registers have the numbers 0 to 255; uniform registers and words of the stack follow. {@link ScalarEffects} changes it. One
 * owner thread.
 */
final class ScalarRegisters {
    static final int UNKNOWN_PLACE = -1;
    /** The number of the first uniform register. */
    static final int UNIFORM = 256;
    /** The number of the first word on the stack: words that {@code [R1+4*i]} names follow the registers. */
    static final int STACK = UNIFORM + 64;
    private static final int STACK_WORDS = 64;
    /** Number of words that an access there reads or writes, plus one for an address that is not a multiple of four. */
    private static final int MOST_WORDS = 5;
    private static final int COUNT = STACK + STACK_WORDS;
    static final int STACK_POINTER = 1;
    static final int ZERO_UNIFORM = UNIFORM + InstructionWord.ZERO_UNIFORM;
    static final int BARRIERS = 16;
    static final long LOAD = 0x800L;
    static final long LOAD_WIDE = 0xa00L;
    static final long LOAD_FOUR = 0xc00L;
    /** Size of a load: 8, 16, 32 or 64 bits, in bits 73 to 75. */
    static final long LOAD_SIZE = 0xe00L;
    /** The variant of {@code SYNCS} whose result is a predicate, {@code .PHASECHK}. Its field for a register is zero. */
    private static final long PHASE_CHECK = 0x40L;
    static final int ALL = 7;
    /** Uniform predicates follow the others. */
    private static final int UNIFORM_PREDICATE = 8;

    private final ScalarValue[] values = new ScalarValue[COUNT];
    /** Predicates that hold the carry of a sum which never carries. */
    private int withoutCarry;
    /** Where the threads that wait at a convergence barrier continue: the place that its last {@code BSSY} named, or {@link #UNKNOWN_PLACE}. */
    private final int[] meetings = new int[BARRIERS];

    /** Whether an address was treated as known although it is only computed where a predicate holds. */
    private boolean conditional;

    ScalarRegisters() {
        forget();
    }

    /** Forgets all facts. */
    void forget() {
        Arrays.fill(values, ScalarValue.UNKNOWN);
        values[InstructionWord.ZERO_REGISTER] = ScalarValue.number(0);
        values[ZERO_UNIFORM] = ScalarValue.number(0);
        withoutCarry = 0;
        Arrays.fill(meetings, UNKNOWN_PLACE);
    }

    /** Returns where execution continues after a {@code BSYNC} of a barrier; {@link #UNKNOWN_PLACE} if it is not known. */
    int meeting(int barrier) {
        return meetings[barrier];
    }

    /** Records that a {@code BSSY} was executed. */
    void meets(int barrier, int place) {
        meetings[barrier] = place;
    }

    /** Returns whether an address was treated as known although it is only computed where a predicate holds. */
    boolean isConditional() {
        return conditional;
    }

    ScalarValue uniform(int register) {
        return values[UNIFORM + register];
    }

    /** Records the end of a block. An exchange of two registers is only followed within one block. */
    void endBlock() {
        for (int i = 0; i < COUNT; i++) {
            if (values[i].kind() == ScalarValue.Kind.BOTH_WORDS) {
                values[i] = ScalarValue.UNKNOWN;
            }
        }
    }

    void set(ScalarRegisters other) {
        System.arraycopy(other.values, 0, values, 0, COUNT);
        withoutCarry = other.withoutCarry;
        System.arraycopy(other.meetings, 0, meetings, 0, BARRIERS);
    }

    /** Keeps only the facts that also hold on another path to this place. Returns whether any was lost. */
    boolean meet(ScalarRegisters other) {
        boolean less = (withoutCarry & ~other.withoutCarry) != 0;
        withoutCarry &= other.withoutCarry;
        for (int i = 0; i < COUNT; i++) {
            if (values[i] != other.values[i]) {
                ScalarValue both = values[i].or(other.values[i]);
                if (both != values[i]) {
                    less |= !both.equals(values[i]);
                    values[i] = both;
                }
            }
        }
        for (int i = 0; i < BARRIERS; i++) {
            if (meetings[i] != other.meetings[i] && meetings[i] != UNKNOWN_PLACE) {
                meetings[i] = UNKNOWN_PLACE;
                less = true;
            }
        }
        return less;
    }

    /** Forgets the general registers from one on, since they may have been written. */
    void forgetFrom(int register) {
        Arrays.fill(values, register, InstructionWord.ZERO_REGISTER, ScalarValue.UNKNOWN);
        if (register <= STACK_POINTER) {
            forgetStack();
        }
    }

    void forgetStack() {
        Arrays.fill(values, STACK, COUNT, ScalarValue.UNKNOWN);
    }

    /**
     * Records a register's new value. Under a predicate, the register may also keep its previous value. If that was not an address of a parameter, it is
     * ignored: compiled code does not use it as such an address where the predicate does not hold.
     */
    void put(long low, int register, ScalarValue value) {
        if (register == InstructionWord.ZERO_REGISTER || register == ZERO_UNIFORM) {
            return;
        }
        if (InstructionWord.predicate(low) == InstructionWord.ALWAYS) {
            values[register] = value;
        } else if (value.isAddress() && values[register].kind() != value.kind()) {
            values[register] = value;
            conditional = true;
        } else {
            values[register] = value.or(values[register]);
        }
    }

    void putPair(long low, int to, ScalarValue lowWord, ScalarValue highWord) {
        if ((to & 1) != 0) {
            unknown(to - 1, 3); // Not a pair: the registers that read as zero, or an illegal one.
            return;
        }
        put(low, to, lowWord);
        put(low, to + 1, highWord);
    }

    static boolean isOnStack(int key, long low) {
        return key == 0x387 && InstructionWord.source(low) == STACK_POINTER && low >= 0;
    }

    private static int words(long rest) {
        int size = (int) (rest & LOAD_SIZE);
        return size == LOAD ? 1 : size == LOAD_WIDE ? 2 : size == LOAD_FOUR ? 4 : 0;
    }

    /** {@code STL [R1+offset], R}. Elsewhere on the stack nothing is known. */
    void store(long low, long rest) {
        int from = (int) (low >>> 32) & 0xff;
        long offset = low >>> 40;
        int words = words(rest);
        for (int i = 0; isOnStack(0x387, low) && i < (words > 0 ? words : MOST_WORDS); i++) {
            long word = (offset + i * 4L) / Integer.BYTES;
            if (word < STACK_WORDS) {
                boolean whole = words > 0 && offset % Integer.BYTES == 0 && from + i < InstructionWord.ZERO_REGISTER;
                put(low, STACK + (int) word, whole ? values[from + i] : ScalarValue.UNKNOWN);
            }
        }
    }

    /** {@code LDL R, [R1+offset]}. */
    boolean loadFromStack(long low, long rest, int to) {
        long word = (low >>> 40) / Integer.BYTES;
        int words = words(rest);
        boolean plain = words > 0 && InstructionWord.source(low) == STACK_POINTER && low >= 0 && (low >>> 40) % Integer.BYTES == 0
                && word + words <= STACK_WORDS && to + words <= InstructionWord.ZERO_REGISTER;
        for (int i = 0; plain && i < words; i++) {
            put(low, to + i, values[STACK + (int) word + i]);
        }
        return plain;
    }

    /** Records the call of a function that may write some registers and words of the stack. */
    void afterCall(BitSet written) {
        forget(written);
        Arrays.fill(meetings, UNKNOWN_PLACE);
    }

    /** Some registers and words of the stack, and any predicate, may have been written. */
    void forget(BitSet written) {
        written.stream().forEach(register -> values[register] = ScalarValue.UNKNOWN);
        if (written.get(STACK_POINTER)) {
            forgetStack();
        }
        withoutCarry = 0;
    }

    /** Returns the maximum number of registers that an instruction writes; {@link MachineOpcode#MANY} for any. */
    static int results(int key, long low, long high, MachineOpcode operation) {
        if (operation.uniforms() > 0 || operation.registers() == MachineOpcode.MANY) {
            return Math.max(operation.uniforms(), operation.registers());
        }
        return key == 0x15a7 && (high & PHASE_CHECK) != 0 ? 0 : Math.min(operation.registers(), ResultTiming.width(low, high));
    }

    /** Adds the registers and words of the stack that an instruction may write. Returns false if it may write more than these. */
    static boolean written(BitSet all, long low, long high, MachineOpcode operation) {
        int key = InstructionWord.key(low, high);
        if (operation.registers() == MachineOpcode.MANY) {
            return false;
        }
        if (operation.name().equals("STL")) {
            int word = (int) Math.min(STACK_WORDS, (low >>> 40) / Integer.BYTES);
            all.set(STACK + word, Math.min(COUNT, STACK + word + MOST_WORDS));
            return isOnStack(key, low);
        }
        int first = operation.uniforms() > 0 ? UNIFORM + InstructionWord.uniformDestination(low) : InstructionWord.destination(low);
        int end = operation.uniforms() > 0 ? ZERO_UNIFORM : InstructionWord.ZERO_REGISTER;
        all.set(Math.min(first, end), Math.min(first + results(key, low, high, operation), end));
        return true;
    }

    void unknown(int first, int count) {
        if (count == MachineOpcode.MANY) {
            Arrays.fill(values, 0, InstructionWord.ZERO_REGISTER, ScalarValue.UNKNOWN);
            return;
        }
        int end = first >= UNIFORM ? ZERO_UNIFORM : InstructionWord.ZERO_REGISTER;
        for (int register = first; register < Math.min(first + count, end); register++) {
            values[register] = ScalarValue.UNKNOWN;
        }
    }

    private static int bit(boolean uniform, int predicate) {
        return predicate == ALL ? 0 : 1 << predicate << (uniform ? UNIFORM_PREDICATE : 0);
    }

    void forgetPredicate(boolean uniform, int predicate) {
        withoutCarry &= ~bit(uniform, predicate);
    }

    /** Returns the contents of a register or a word of the stack. */
    ScalarValue value(int register) {
        return values[register];
    }

    /** Returns whether a predicate holds the carry of a sum that never carries. */
    boolean isWithoutCarry(boolean uniform, int predicate) {
        return (withoutCarry & bit(uniform, predicate)) != 0;
    }

    /** Records that an instruction writes the carry of a sum which never carries. */
    void carriesNothing(long low, boolean uniform, int predicate) {
        withoutCarry |= bit(uniform, predicate);
        conditional |= InstructionWord.predicate(low) != InstructionWord.ALWAYS;
    }

    /** Predicates that are not uniform, as bits, were written. */
    void forgetPredicates(int written) {
        withoutCarry &= ~written;
    }

    /** All predicates that are not uniform were written. */
    void forgetPredicates() {
        withoutCarry &= -1 << UNIFORM_PREDICATE;
    }

    /** A convergence barrier was written. */
    void forgetMeeting(int barrier) {
        meetings[barrier & BARRIERS - 1] = UNKNOWN_PLACE;
    }
}
