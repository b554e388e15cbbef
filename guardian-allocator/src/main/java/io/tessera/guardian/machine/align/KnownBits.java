package io.tessera.guardian.machine.align;

import io.tessera.guardian.machine.code.InstructionWord;
import java.util.Arrays;

/**
 * Known values of the lowest bits of registers at a place of the code. General registers have the numbers 0 to 255; uniform registers follow. In a
 * block, more may be known of a register under a predicate: facts for the threads for which it is true. One owner thread.
 */
final class KnownBits {
    /** The number of the first uniform register. */
    static final int UNIFORM = InstructionWord.ZERO_REGISTER + 1;
    private static final int ZERO_UNIFORM = UNIFORM + InstructionWord.ZERO_UNIFORM;
    private static final int COUNT = ZERO_UNIFORM + 1;
    /** A predicate: its number, and the bit that says that it is negated. */
    private static final int NUMBER = 7;
    private static final int SIGN = 3;
    private static final int NEGATED = 1 << SIGN;
    /** The register with the stack's address, which functions give back as they found it. */
    private static final int STACK_POINTER = 1;
    /** Local memory of a thread begins and ends at a multiple of this, and compilers round frames up to it where an access needs it. */
    private static final int STACK_ALIGNMENT = 16;

    private final int[] values = new int[COUNT];
    /** Indexed by general register: the predicates under which more is known, without their signs, as bits. */
    private final int[] predicates = new int[UNIFORM];
    /** Indexed by predicate with its sign: facts about registers where it holds; null if there are none yet. */
    private final int[][] byPredicate = new int[1 << SIGN + 1][];
    private boolean conditional;
    /** Uniform registers that keep their numbers everywhere, as bits. */
    private long fixed;

    KnownBits() {
        forget();
        values[STACK_POINTER] = stackPointer();
    }

    static int stackPointer() {
        return LowBits.multipleOf(STACK_ALIGNMENT);
    }

    /** A uniform register has one number wherever it is read. */
    void fix(int uniform, int number) {
        values[UNIFORM + uniform] = LowBits.number(number);
        fixed |= 1L << uniform;
    }

    /** Forgets all but the stack's address and the registers that keep their numbers: calls preserve both. */
    void forget() {
        forgetFrom(0);
        for (int u = 0; u < InstructionWord.ZERO_UNIFORM; u++) {
            values[UNIFORM + u] = (fixed >>> u & 1) != 0 ? values[UNIFORM + u] : LowBits.UNKNOWN;
        }
        values[InstructionWord.ZERO_REGISTER] = LowBits.number(0);
        values[ZERO_UNIFORM] = LowBits.number(0);
    }

    /** Forgets all general registers from an index on, except the stack's address. */
    void forgetFrom(int register) {
        int stack = values[STACK_POINTER];
        Arrays.fill(values, register, InstructionWord.ZERO_REGISTER, LowBits.UNKNOWN);
        values[STACK_POINTER] = stack;
        forgetConditions();
    }

    void set(KnownBits other) {
        System.arraycopy(other.values, 0, values, 0, COUNT);
        fixed = other.fixed;
        forgetConditions();
    }

    /** Keeps what is known on another way to this place, too. Returns whether that is less. */
    boolean meet(KnownBits other) {
        boolean less = false;
        for (int i = 0; i < COUNT; i++) {
            int either = values[i] == other.values[i] ? values[i] : LowBits.either(values[i], other.values[i]);
            less |= either != values[i];
            values[i] = either;
        }
        return less;
    }

    /** The known bits of a register where a predicate holds, as {@link InstructionWord#predicate} has it. */
    int value(int register, int predicate) {
        boolean more = conditional && register < UNIFORM && (predicates[register] >>> (predicate & NUMBER) & 1) != 0;
        return more ? byPredicate[predicate][register] : values[register];
    }

    /** A register was written where a predicate holds. */
    void put(int register, int predicate, int bits) {
        if (register == InstructionWord.ZERO_REGISTER || register >= ZERO_UNIFORM) {
            return;
        }
        if (predicate == InstructionWord.ALWAYS) {
            values[register] = bits;
            if (register < UNIFORM) {
                predicates[register] = 0;
            }
            return;
        }
        for (int other = 0; conditional && register < UNIFORM && other < InstructionWord.ALWAYS; other++) {
            if ((predicates[register] >>> other & 1) != 0 && other != (predicate & NUMBER)) {
                byPredicate[other][register] = LowBits.either(byPredicate[other][register], bits);
                byPredicate[other | NEGATED][register] = LowBits.either(byPredicate[other | NEGATED][register], bits);
            }
        }
        condition(register, predicate, bits);
        values[register] = LowBits.either(values[register], bits);
    }

    private void condition(int register, int predicate, int bits) {
        if (register >= UNIFORM || (predicate & NUMBER) == InstructionWord.ALWAYS) {
            return;
        }
        int[] other = of(predicate ^ NEGATED);
        other[register] = value(register, predicate ^ NEGATED);
        of(predicate)[register] = bits;
        predicates[register] |= 1 << (predicate & NUMBER);
        conditional = true;
    }

    private int[] of(int predicate) {
        if (byPredicate[predicate] == null) {
            byPredicate[predicate] = new int[UNIFORM];
        }
        return byPredicate[predicate];
    }

    /** The lowest bits of a register became a rest modulo a power of two where a predicate holds; the others stayed as they were. */
    void round(int register, int predicate, int rest, int width) {
        put(register, predicate, LowBits.withRest(value(register, predicate), rest, width));
    }

    /** Predicates were written, as bits. */
    void forgetUnder(int written) {
        for (int register = 0; conditional && written != 0 && register < UNIFORM; register++) {
            predicates[register] &= ~written;
        }
    }

    private void forgetConditions() {
        if (conditional) {
            Arrays.fill(predicates, 0);
            conditional = false;
        }
    }
}
