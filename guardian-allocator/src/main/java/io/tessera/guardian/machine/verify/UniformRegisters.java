package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.Arrays;

/** What is known of the uniform registers at a place of a kernel's code. One owner thread. */
final class UniformRegisters {
    static final int UNKNOWN_PLACE = -1;
    private static final int COUNT = 64;
    private static final int BARRIERS = 16;
    /** Where the driver keeps the address of the parameters in constant bank 0, and the address of that bank (sm_90; measured on an H100). */
    private static final int PARAMETERS = 0x198;
    private static final int BANK = 0xc0;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** Second words without what is variable in them. */
    private static final long ADD = 0x0ff1e03fL;
    private static final long ADD_CARRY = 0x087fe43fL;
    private static final long ADD_WIDE = 0x0fffe03fL;
    private static final long SELECT = 0x08000000L;
    private static final long LOAD = 0x800L;
    private static final long LOAD_WIDE = 0xa00L;
    /** How much is loaded: 8, 16, 32 or 64 bits, bits 73 to 75. */
    private static final long LOAD_SIZE = 0xe00L;
    private static final int FIRST_RESULT = 17;
    private static final int SECOND_RESULT = 20;
    private static final int CONDITION = 23;
    private static final long NEGATED = 1L << 26;
    private static final int PREDICATE_BITS = 7;

    private final UniformValue[] values = new UniformValue[COUNT];
    /** Uniform predicates that hold the carry of a sum that carries nothing. */
    private int withoutCarry;
    /** Where the threads that wait at a convergence barrier go on: the place that its last {@code BSSY} named; {@link #UNKNOWN_PLACE}. */
    private final int[] meetings = new int[BARRIERS];

    UniformRegisters() {
        forget();
    }

    /** Nothing is known. */
    void forget() {
        Arrays.fill(values, UniformValue.UNKNOWN);
        values[InstructionWord.ZERO_UNIFORM] = UniformValue.number(0);
        withoutCarry = 0;
        Arrays.fill(meetings, UNKNOWN_PLACE);
    }

    /** Where execution goes on behind a {@code BSYNC} of a barrier; {@link #UNKNOWN_PLACE}: not known. */
    int meeting(int barrier) {
        return meetings[barrier];
    }

    /** A {@code BSSY} was executed. */
    void meets(int barrier, int place) {
        meetings[barrier] = place;
    }

    UniformValue get(int register) {
        return values[register];
    }

    void set(UniformRegisters other) {
        System.arraycopy(other.values, 0, values, 0, COUNT);
        withoutCarry = other.withoutCarry;
        System.arraycopy(other.meetings, 0, meetings, 0, BARRIERS);
    }

    /** Keeps what is known on another way to this place, too. Returns whether that is less. */
    boolean meet(UniformRegisters other) {
        boolean less = (withoutCarry & ~other.withoutCarry) != 0;
        withoutCarry &= other.withoutCarry;
        for (int i = 0; i < COUNT; i++) {
            UniformValue both = values[i].or(other.values[i]);
            less |= !both.equals(values[i]);
            values[i] = both;
        }
        for (int i = 0; i < BARRIERS; i++) {
            if (meetings[i] != other.meetings[i] && meetings[i] != UNKNOWN_PLACE) {
                meetings[i] = UNKNOWN_PLACE;
                less = true;
            }
        }
        return less;
    }

    /** An instruction was executed. */
    void after(long low, long high, MachineOpcode operation) {
        if (leaves(operation.kind())) {
            forget();
            return;
        }
        long rest = high & WITHOUT_CONTROL;
        int to = InstructionWord.uniformDestination(low);
        switch (InstructionWord.key(low, high)) {
            case 0x882 -> put(low, to, rest == 0 ? UniformValue.number(InstructionWord.immediate(low)) : UniformValue.UNKNOWN);
            case 0x1c82 -> put(low, to, rest == SELECT ? values[second(low)] : UniformValue.UNKNOWN);
            case 0x1290 -> add(low, rest, values[second(low)], low >>> 38 == 0);
            case 0x1890 -> add(low, rest, UniformValue.number(InstructionWord.immediate(low)), true);
            case 0x1297 -> addWide(low, rest);
            case 0x1897 -> addWideNumber(low, rest);
            case 0x1287 -> put(low, to, select(rest, first(low), values[second(low)], low >>> 38 == 0));
            case 0x1887 -> put(low, to, select(rest, first(low), UniformValue.number(InstructionWord.immediate(low)), true));
            case 0xab9 -> load(low, rest);
            case 0x1abb, 0xabb -> unknown(to, (rest & LOAD_SIZE) == LOAD_WIDE ? 2 : 1);
            case 0x356 -> meetings[InstructionWord.source(low) & BARRIERS - 1] = UNKNOWN_PLACE; // BMOV B, R
            default -> other(low, rest, operation);
        }
    }

    private static boolean leaves(Kind kind) {
        return switch (kind) {
            case CALL, CALL_SYMBOL, CALL_REGISTER, COLLECTIVE -> true;
            default -> false;
        };
    }

    private UniformValue first(long low) {
        return InstructionWord.source(low) < COUNT ? values[InstructionWord.source(low)] : UniformValue.UNKNOWN;
    }

    private static int second(long low) {
        return (int) (low >>> 32) & 0x3f;
    }

    /** Under a predicate a register may also keep what it had. */
    private void put(long low, int register, UniformValue value) {
        if (register != InstructionWord.ZERO_UNIFORM) {
            values[register] = InstructionWord.predicate(low) == InstructionWord.ALWAYS ? value : value.or(values[register]);
        }
    }

    /** {@code UIADD3 UR, UP, UR, UR or immediate, URZ}, and the same with the carry of another, {@code .X}. */
    private void add(long low, long rest, UniformValue second, boolean plain) {
        int to = InstructionWord.uniformDestination(low);
        UniformValue first = first(low);
        if (plain && (rest & ~((long) PREDICATE_BITS << FIRST_RESULT)) == ADD) {
            int carry = (int) (rest >>> FIRST_RESULT) & PREDICATE_BITS;
            boolean address = first.kind() == UniformValue.Kind.LOW_WORD && second.isDistance()
                    || second.kind() == UniformValue.Kind.LOW_WORD && first.isDistance();
            put(low, to, first.plus(second));
            forgetPredicate(carry);
            if (address && InstructionWord.predicate(low) == InstructionWord.ALWAYS && carry != PREDICATE_BITS) {
                withoutCarry |= 1 << carry;
            }
            return;
        }
        forgetPredicates(rest);
        int carry = (int) (rest >>> CONDITION) & PREDICATE_BITS;
        boolean known = plain && (rest & ~((long) PREDICATE_BITS << CONDITION)) == ADD_CARRY && (withoutCarry >>> carry & 1) != 0;
        put(low, to, known ? first.plus(second) : UniformValue.UNKNOWN);
    }

    private void addWide(long low, long rest) {
        int to = InstructionWord.uniformDestination(low);
        int one = InstructionWord.source(low);
        int two = second(low);
        boolean plain = rest == ADD_WIDE && low >>> 38 == 0 && one < COUNT - 1 && two < COUNT - 1 && (one & 1) == 0 && (two & 1) == 0;
        UniformValue sumLow = plain && (values[one].isDistance() || values[two].isDistance()) ? values[one].plus(values[two]) : UniformValue.UNKNOWN;
        UniformValue sumHigh = plain ? values[one + 1].plus(values[two + 1]) : UniformValue.UNKNOWN;
        if (to < COUNT - 1) {
            put(low, to, sumLow);
            put(low, to + 1, sumHigh);
        }
    }

    /** The number has a sign, and the sum is one of 64 bits: while it stays in the bank of the parameters, it keeps the high word. */
    private void addWideNumber(long low, long rest) {
        int to = InstructionWord.uniformDestination(low);
        int from = InstructionWord.source(low);
        boolean plain = rest == ADD_WIDE && from < COUNT - 1 && (from & 1) == 0 && values[from].kind() == UniformValue.Kind.LOW_WORD
                && values[from + 1].kind() == UniformValue.Kind.HIGH_WORD;
        UniformValue sum = plain ? values[from].plus(UniformValue.number(InstructionWord.immediate(low))) : UniformValue.UNKNOWN;
        if (to < COUNT - 1) {
            put(low, to, sum);
            put(low, to + 1, sum.kind() == UniformValue.Kind.LOW_WORD ? UniformValue.PARAMETERS_HIGH : UniformValue.UNKNOWN);
        }
    }

    private static UniformValue select(long rest, UniformValue first, UniformValue second, boolean plain) {
        return plain && (rest & ~((long) PREDICATE_BITS << CONDITION | NEGATED)) == SELECT ? first.or(second) : UniformValue.UNKNOWN;
    }

    private void load(long low, long rest) {
        int to = InstructionWord.uniformDestination(low);
        long place = low >>> 38; // bytes in bits 38 to 53, the bank above
        boolean wide = rest == LOAD_WIDE;
        boolean fixed = InstructionWord.source(low) == 0 && (wide || rest == LOAD);
        if (fixed && (place == PARAMETERS || place == BANK)) {
            put(low, to, place == BANK ? UniformValue.BANK_LOW : UniformValue.PARAMETERS_LOW);
            if (wide && to < COUNT - 1) {
                put(low, to + 1, UniformValue.PARAMETERS_HIGH);
            }
        } else if (fixed && !wide && (place == PARAMETERS + Integer.BYTES || place == BANK + Integer.BYTES)) {
            put(low, to, UniformValue.PARAMETERS_HIGH);
        } else {
            unknown(to, (rest & LOAD_SIZE) == LOAD_WIDE ? 2 : 1);
        }
    }

    private void other(long low, long rest, MachineOpcode operation) {
        switch (operation.name()) {
            case "ULEA", "ULOP3", "UFLO", "UIMAD", "UIMAD.WIDE", "VOTEU", "R2UR", "USETMAXREG" ->
                forgetPredicate((int) (rest >>> FIRST_RESULT) & PREDICATE_BITS);
            case "USHF", "UPRMT", "UBMSK", "UPOPC", "UP2UR", "UCGABAR", "USETSHMSZ", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF", "UTMACCTL",
                    "UTMACMDFLUSH" ->
                {}
            default -> {
                if (operation.name().startsWith("U")) {
                    forgetPredicates(rest);
                }
            }
        }
        unknown(InstructionWord.uniformDestination(low), operation.uniforms());
    }

    private void unknown(int first, int count) {
        for (int register = first; register < first + count && register < InstructionWord.ZERO_UNIFORM; register++) {
            values[register] = UniformValue.UNKNOWN;
        }
    }

    /** Every predicate that an instruction may write, by the two fields that can name one. */
    private void forgetPredicates(long rest) {
        forgetPredicate((int) (rest >>> FIRST_RESULT) & PREDICATE_BITS);
        forgetPredicate((int) (rest >>> SECOND_RESULT) & PREDICATE_BITS);
    }

    private void forgetPredicate(int predicate) {
        withoutCarry &= ~(1 << predicate);
    }
}
