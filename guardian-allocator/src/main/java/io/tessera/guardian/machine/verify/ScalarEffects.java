package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.ResultTiming;

/** Applies the effects of instructions to {@link ScalarRegisters}, as far as they concern addresses in a kernel's parameters. One owner thread. */
final class ScalarEffects {
    /**
     * Offsets in constant bank 0 at which the driver keeps the address of the parameters, and the address of that bank (sm_90; measured on an H100).
     */
    private static final int PARAMETERS = 0x198;
    private static final int BANK = 0xc0;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** Second words of instructions, without their variable bits and without the mark of a uniform operand. */
    private static final long ADD = 0x07f1e0ffL;
    private static final long ADD_CARRY = 0x007fe4ffL;
    private static final long UNIFORM_ADD = 0x07f1e03fL;
    private static final long UNIFORM_ADD_CARRY = 0x007fe43fL;
    private static final long ADD_WIDE = 0x0fffe03fL;
    private static final long ALL_THREADS = 0xf00L;
    private static final long PRODUCT = 0x078e0000L;
    private static final long PRODUCT_WIDE = 0x078e0200L;
    private static final long PRODUCT_CARRY = 0x000e0600L;
    private static final long EXCLUSIVE_OR = 0x078e3c3fL;
    private static final long TO_UNIFORM = 0x000e0000L;
    private static final long UNIFORM_OPERAND = 1L << 27;
    /** The factor, in bytes, by which compiled code multiplies an index of tensor maps. */
    private static final int MAP_BYTES = 64;
    private static final int FIRST_RESULT = 17;
    private static final int SECOND_RESULT = 20;
    private static final int CONDITION = 23;
    private static final long NEGATED = 1L << 26;

    private final ScalarRegisters registers;

    ScalarEffects(ScalarRegisters registers) {
        this.registers = registers;
    }

    /** Records that an instruction was executed. */
    void after(long low, long high, MachineOpcode operation) {
        if (leaves(operation.kind())) {
            registers.forget();
            return;
        }
        if (operation.kind() == Kind.REGISTER_COUNT) {
            registers.forgetPredicate(true, (int) (high >>> FIRST_RESULT) & ScalarRegisters.ALL);
            registers.forgetFrom(Math.clamp(InstructionWord.immediate(low), 0, InstructionWord.ZERO_REGISTER)); // a thread keeps registers below its new count
            return;
        }
        if (operation.kind() == Kind.MATRIX) {
            registers.forgetFrom(InstructionWord.destination(low));
            return;
        }
        int key = InstructionWord.key(low, high);
        int count = ScalarRegisters.results(key, low, high, operation);
        if (operation.uniforms() == 0 && InstructionWord.destination(low) <= ScalarRegisters.STACK_POINTER
                && InstructionWord.destination(low) + count > ScalarRegisters.STACK_POINTER
                || operation.name().equals("STL") && !ScalarRegisters.isOnStack(key, low)) {
            registers.forgetStack();
        }
        if (key == 0x356) {
            registers.forgetMeeting(InstructionWord.source(low)); // BMOV B, R
        }
        int to = operation.uniforms() > 0 ? ScalarRegisters.UNIFORM + InstructionWord.uniformDestination(low) : InstructionWord.destination(low);
        long rest = high & WITHOUT_CONTROL;
        if (calculate(key, low, rest, to)) {
            return;
        }
        if (key == 0xab9 || key == 0xb82) {
            load(low, rest, to);
        } else if (key == 0x1abb || key == 0xabb) {
            registers.unknown(to, (rest & ScalarRegisters.LOAD_SIZE) == ScalarRegisters.LOAD_WIDE ? 2 : 1);
        } else {
            forgetPredicates(low, high, operation);
            registers.unknown(to, count);
        }
    }

    private static boolean leaves(Kind kind) {
        return switch (kind) {
            case CALL, CALL_SYMBOL, CALL_REGISTER, COLLECTIVE -> true;
            default -> false;
        };
    }

    /** Takes an instruction whose result may be known; false if it is none. */
    private boolean calculate(int key, long low, long rest, int to) {
        boolean uniform = to >= ScalarRegisters.UNIFORM;
        switch (key) {
            case 0x882 -> copy(low, to, rest == 0, immediate(low));
            case 0x1c82 -> copy(low, to, rest == UNIFORM_OPERAND && low >>> 38 == 0, second(low, true));
            case 0x802 -> copy(low, to, rest == ALL_THREADS, immediate(low));
            case 0x202 -> copy(low, to, rest == ALL_THREADS && low >>> 40 == 0, second(low, false));
            case 0x1c02 -> copy(low, to, rest == (ALL_THREADS | UNIFORM_OPERAND) && low >>> 38 == 0, second(low, true));
            case 0x2ca -> copyToUniform(low, rest, to);
            case 0x1287, 0x1887 -> select(low, rest & ~UNIFORM_OPERAND, to, key == 0x1887, true);
            case 0x207, 0x807 -> select(low, rest, to, key == 0x807, false);
            case 0x1290, 0x1890 -> add(low, rest & ~UNIFORM_OPERAND, to, operand(key, low, uniform), UNIFORM_ADD, UNIFORM_ADD_CARRY);
            case 0x210, 0x810, 0x1c10 -> add(low, rest & ~UNIFORM_OPERAND, to, operand(key, low, uniform), ADD, ADD_CARRY);
            case 0x1297 -> addWide(low, rest, to);
            case 0x1897 -> addWideNumber(low, rest, to);
            case 0x224, 0x1e24 -> product(low, rest & ~UNIFORM_OPERAND, to, key == 0x1e24);
            case 0x825 -> {
                return productWide(low, rest, to, (int) rest & 0xff);
            }
            case 0x18a5 -> {
                return productWide(low, rest & ~UNIFORM_OPERAND, to, ScalarRegisters.UNIFORM + ((int) rest & 0xff));
            }
            case 0x1292 -> {
                return exclusiveOr(low, rest & ~UNIFORM_OPERAND, to);
            }
            case 0x387 -> registers.store(low, rest);
            case 0x983 -> {
                return registers.loadFromStack(low, rest, to);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static ScalarValue immediate(long low) {
        return ScalarValue.number(InstructionWord.immediate(low));
    }

    private ScalarValue first(long low, boolean uniform) {
        int register = InstructionWord.source(low);
        return !uniform ? registers.value(register)
                : register < ScalarRegisters.STACK - ScalarRegisters.UNIFORM ? registers.value(ScalarRegisters.UNIFORM + register)
                : ScalarValue.UNKNOWN;
    }

    private ScalarValue second(long low, boolean uniform) {
        return registers.value(uniform ? ScalarRegisters.UNIFORM + ((int) (low >>> 32) & 0x3f) : (int) (low >>> 32) & 0xff);
    }

    /** The second operand of a sum: an immediate, or a register and nothing beside it. */
    private ScalarValue operand(int key, long low, boolean uniform) {
        if ((key & 0x800) != 0 && (key & 0x400) == 0) {
            return immediate(low);
        }
        boolean ofUniform = uniform || (key & 0x1000) != 0;
        return low >>> (ofUniform ? 38 : 40) == 0 ? second(low, ofUniform) : ScalarValue.UNKNOWN;
    }

    private void copy(long low, int to, boolean plain, ScalarValue value) {
        registers.put(low, to, plain ? value : ScalarValue.UNKNOWN);
    }

    /** {@code R2UR} copies a register. Other variants of it say whether all threads have the same value, or collect bits of the threads. */
    private void copyToUniform(long low, long rest, int to) {
        registers.forgetPredicate(false, (int) (rest >>> FIRST_RESULT) & ScalarRegisters.ALL);
        registers.put(low, to, rest == TO_UNIFORM && low >>> 32 == 0 ? first(low, false) : ScalarValue.UNKNOWN);
    }

    private void select(long low, long rest, int to, boolean number, boolean uniform) {
        boolean plain = (rest & ~((long) ScalarRegisters.ALL << CONDITION | NEGATED)) == 0 && (number || low >>> (uniform ? 38 : 40) == 0);
        registers.put(low, to, plain ? first(low, uniform).or(number ? immediate(low) : second(low, uniform)) : ScalarValue.UNKNOWN);
    }

    /** {@code IADD3 R, P, R, operand, RZ}, and the same with the carry of another, {@code .X}; of uniform registers likewise. */
    private void add(long low, long rest, int to, ScalarValue second, long plainForm, long carryForm) {
        boolean uniform = to >= ScalarRegisters.UNIFORM;
        ScalarValue first = first(low, uniform);
        if ((rest & ~((long) ScalarRegisters.ALL << FIRST_RESULT)) == plainForm) {
            int carry = (int) (rest >>> FIRST_RESULT) & ScalarRegisters.ALL;
            boolean address = (first.isLowWord() || second.isLowWord()) && isWithoutCarry(first, second);
            registers.put(low, to, first.plus(second));
            registers.forgetPredicate(uniform, carry);
            if (address && carry != ScalarRegisters.ALL) {
                registers.carriesNothing(low, uniform, carry);
            }
            return;
        }
        int carry = (int) (rest >>> CONDITION) & ScalarRegisters.ALL;
        boolean known = (rest & ~((long) ScalarRegisters.ALL << CONDITION)) == carryForm && registers.isWithoutCarry(uniform, carry);
        registers.forgetPredicate(uniform, (int) (rest >>> FIRST_RESULT) & ScalarRegisters.ALL);
        registers.forgetPredicate(uniform, (int) (rest >>> SECOND_RESULT) & ScalarRegisters.ALL);
        registers.put(low, to, known ? first.plus(second) : ScalarValue.UNKNOWN);
    }

    private void addWide(long low, long rest, int to) {
        forgetBoth(rest);
        int one = InstructionWord.source(low);
        int two = (int) (low >>> 32) & 0x3f;
        boolean plain = rest == ADD_WIDE && low >>> 38 == 0 && isPair(one) && isPair(two);
        boolean withoutCarry = plain && isWithoutCarry(registers.uniform(one), registers.uniform(two));
        ScalarValue sumLow = withoutCarry ? registers.uniform(one).plus(registers.uniform(two)) : ScalarValue.UNKNOWN;
        ScalarValue sumHigh = withoutCarry ? registers.uniform(one + 1).plus(registers.uniform(two + 1)) : ScalarValue.UNKNOWN;
        registers.putPair(low, to, sumLow, sumHigh);
    }

    private static boolean isWithoutCarry(ScalarValue one, ScalarValue two) {
        return one.isDistance() ? two.isDistance() || two.isLowWord() : two.isDistance() && one.isLowWord();
    }

    /** Adds a signed number to an address of 64 bits: while the sum stays in the bank of the parameters, its high word is unchanged. */
    private void addWideNumber(long low, long rest, int to) {
        forgetBoth(rest);
        int from = InstructionWord.source(low);
        boolean plain = rest == ADD_WIDE && isPair(from) && registers.uniform(from).isLowWord()
                && registers.uniform(from + 1).kind() == ScalarValue.Kind.HIGH_WORD;
        ScalarValue sum = plain ? registers.uniform(from).plus(immediate(low)) : ScalarValue.UNKNOWN;
        registers.putPair(low, to, sum, sum.isLowWord() ? ScalarValue.PARAMETERS_HIGH : ScalarValue.UNKNOWN);
    }

    private static boolean isPair(int uniform) {
        return uniform < InstructionWord.ZERO_UNIFORM && (uniform & 1) == 0;
    }

    /** {@code IMAD.MOV.U32 R, RZ, RZ, R}, {@code IMAD.X R, RZ, RZ, R, P}, and with a uniform register as the third operand. */
    private void product(long low, long rest, int to, boolean uniform) {
        boolean zeros = InstructionWord.source(low) == InstructionWord.ZERO_REGISTER;
        ScalarValue third;
        long form = rest & ~0xffL;
        if (uniform) { // the third operand stands where others have the second one
            third = second(low, true);
            zeros &= low >>> 38 == 0 && (rest & 0xff) == InstructionWord.ZERO_REGISTER;
        } else {
            third = registers.value((int) rest & 0xff);
            zeros &= (low >>> 32) == InstructionWord.ZERO_REGISTER;
        }
        int carry = (int) (rest >>> CONDITION) & ScalarRegisters.ALL;
        boolean copies = form == PRODUCT;
        boolean adds = (form & ~((long) ScalarRegisters.ALL << CONDITION)) == PRODUCT_CARRY && registers.isWithoutCarry(false, carry);
        registers.forgetPredicate(false, (int) (rest >>> FIRST_RESULT) & ScalarRegisters.ALL);
        registers.put(low, to, zeros && (copies || adds) ? third : ScalarValue.UNKNOWN);
    }

    /** {@code IMAD.WIDE R, R, 0x40, R}, and of uniform registers: an index of tensor maps. */
    private boolean productWide(long low, long rest, int to, int third) {
        boolean plain = (rest & ~0xffL) == PRODUCT_WIDE && InstructionWord.immediate(low) == MAP_BYTES && (third & 1) == 0
                && third < ScalarRegisters.ZERO_UNIFORM && registers.value(third).isLowWord()
                && registers.value(third + 1).kind() == ScalarValue.Kind.HIGH_WORD;
        if (plain) {
            registers.putPair(low, to, registers.value(third).indexed(), ScalarValue.PARAMETERS_HIGH);
        }
        return plain;
    }

    /** {@code ULOP3.LUT UR, UR, UR, URZ, 0x3c, !UPT}: three of them exchange two registers. */
    private boolean exclusiveOr(long low, long rest, int to) {
        boolean plain = rest == EXCLUSIVE_OR && low >>> 38 == 0;
        if (plain) {
            registers.put(low, to, first(low, true).exclusiveOr(second(low, true)));
        }
        return plain;
    }

    /** {@code ULDC} and {@code LDC} of the two addresses that the driver keeps in constant bank 0. */
    private void load(long low, long rest, int to) {
        long place = low >>> 38; // bytes in bits 38 to 53, the bank above
        boolean wide = rest == ScalarRegisters.LOAD_WIDE;
        boolean general = to < ScalarRegisters.UNIFORM;
        boolean fixed = InstructionWord.source(low) == (general ? InstructionWord.ZERO_REGISTER : 0) && (wide || rest == ScalarRegisters.LOAD);
        if (fixed && (place == PARAMETERS || place == BANK)) {
            ScalarValue word = place == BANK ? ScalarValue.BANK_LOW : ScalarValue.PARAMETERS_LOW;
            if (wide) {
                registers.putPair(low, to, word, ScalarValue.PARAMETERS_HIGH);
            } else {
                registers.put(low, to, word);
            }
        } else if (fixed && !wide && (place == PARAMETERS + Integer.BYTES || place == BANK + Integer.BYTES)) {
            registers.put(low, to, ScalarValue.PARAMETERS_HIGH);
        } else {
            registers.unknown(to, (rest & ScalarRegisters.LOAD_SIZE) == ScalarRegisters.LOAD_WIDE ? 2 : 1);
        }
    }

    /** Forgets every predicate that an instruction may write. Two fields of the instruction name uniform predicates. */
    private void forgetPredicates(long low, long high, MachineOpcode operation) {
        registers.forgetPredicates(ResultTiming.predicates(low, high));
        if (operation.registers() == MachineOpcode.MANY) {
            registers.forgetPredicates();
        }
        switch (operation.name()) {
            case "USHF", "UPRMT", "UBMSK", "UPOPC", "UP2UR", "UCGABAR", "USETSHMSZ", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF", "UTMACCTL",
                    "UTMACMDFLUSH" ->
                {}
            case "VOTEU", "ULEA", "ULOP3", "UFLO", "UIMAD", "UIMAD.WIDE", "USETMAXREG" ->
                registers.forgetPredicate(true, (int) (high >>> FIRST_RESULT) & ScalarRegisters.ALL);
            default -> {
                if (operation.name().startsWith("U")) {
                    forgetBoth(high);
                }
            }
        }
    }

    private void forgetBoth(long high) {
        registers.forgetPredicate(true, (int) (high >>> FIRST_RESULT) & ScalarRegisters.ALL);
        registers.forgetPredicate(true, (int) (high >>> SECOND_RESULT) & ScalarRegisters.ALL);
    }
}
