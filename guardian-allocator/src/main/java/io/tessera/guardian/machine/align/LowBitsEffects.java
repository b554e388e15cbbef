package io.tessera.guardian.machine.align;

import io.tessera.guardian.machine.code.ConstantOperand;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.ResultTiming;

/**
 * Effects of instructions on the lowest bits of registers. Arithmetic on uniform registers is encoded as on general ones, with other opcodes. Fields
 * were determined with nvdisasm. One owner thread.
 */
final class LowBitsEffects {
    /** Offset in constant bank 0 at which the driver keeps the address of a thread's stack. */
    private static final int STACK = 0x28;
    private static final int UNIFORM_OPCODES = 0x80;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final long NEGATED_FIRST = 1L << 8;
    /** {@code .16x2} of {@code VIADD}. */
    private static final long HALVES = 1L << 9;
    private static final long CARRY = 1L << 10;
    private static final long NEGATED_THIRD = 1L << 11;
    private static final long HIGH_WORD = 1L << 16;
    /** Bit 91. */
    private static final long UNIFORM_OPERAND = 1L << 27;
    private static final long PHASE_CHECK = 0x40L;
    private static final long WHOLE = 0xf00L;
    private static final long SHIFT_LEFT = 0x600L;
    private static final long SHIFT_RIGHT = 0x11600L;
    private static final long SHIFT_RIGHT_SIGNED = 0x11400L;
    /** In a selector of {@code PRMT}: the lowest byte of the third operand. */
    private static final int FIRST_OF_THIRD = 4;
    private static final long TO_UNIFORM = 0x000e0000L;

    private final KnownBits known;
    private long low;
    private long rest;
    private int predicate;
    private int form;
    private boolean uniform;

    LowBitsEffects(KnownBits known) {
        this.known = known;
    }

    /** An instruction was executed. */
    void after(long lowWord, long high, MachineOpcode operation) {
        if (operation.kind() == Kind.MATRIX) {
            known.forgetFrom(InstructionWord.destination(lowWord));
            return;
        }
        if (operation.registers() == MachineOpcode.MANY) {
            known.forget();
            return;
        }
        low = lowWord;
        rest = high & WITHOUT_CONTROL;
        predicate = InstructionWord.predicate(low);
        uniform = operation.uniforms() > 0;
        form = (int) low >>> 9 & 7;
        int result = operation.kind() == Kind.PLAIN ? result(InstructionWord.key(low, high)) : LowBits.UNKNOWN;
        if (isStackPointer(low, high)) {
            result = KnownBits.stackPointer();
        }
        int first = uniform ? KnownBits.UNIFORM + InstructionWord.uniformDestination(low) : InstructionWord.destination(low);
        int end = uniform ? KnownBits.UNIFORM + InstructionWord.ZERO_UNIFORM : InstructionWord.ZERO_REGISTER;
        int count = uniform ? operation.uniforms() : isTest(low, high) ? 0 : Math.min(operation.registers(), ResultTiming.width(low, high));
        for (int i = 0; i < count && first + i < end; i++) {
            known.put(first + i, predicate, i == 0 ? result : LowBits.UNKNOWN);
        }
        known.forgetUnder(ResultTiming.predicates(low, high));
    }

    /** {@code SYNCS.PHASECHK}, whose result is a predicate. */
    private static boolean isTest(long low, long high) {
        return InstructionWord.key(low, high) == 0x15a7 && (high & PHASE_CHECK) != 0;
    }

    private static boolean isStackPointer(long low, long high) {
        return ConstantOperand.bank(low, high) == 0 && ConstantOperand.offset(low) == STACK && !ConstantOperand.isIndexed(low)
                && switch ((int) low & 0xfff) {
                    case 0xb82, 0xa02 -> true;
                    default -> false;
                };
    }

    private int result(int key) {
        if (key == 0x2ca) {
            return rest == TO_UNIFORM && low >>> 32 == 0 ? known.value(InstructionWord.source(low), predicate) : LowBits.UNKNOWN;
        }
        if (uniform && (key & 0x1ff) < UNIFORM_OPCODES) {
            return LowBits.UNKNOWN;
        }
        return switch (uniform ? (key & 0x1ff) - UNIFORM_OPCODES : key & 0x1ff) {
            case 0x02 -> uniform || (rest & WHOLE) == WHOLE ? second() : LowBits.UNKNOWN;
            case 0x07, 0x48 -> LowBits.either(first(), second());
            case 0x10 -> isSet(CARRY) ? LowBits.UNKNOWN : sum(LowBits.sum(signed(first()), signed(second())), signed(third()));
            case 0x17 -> uniform && !isSet(CARRY) ? sum(sum(signed(first()), signed(second())), signed(third())) : LowBits.UNKNOWN;
            case 0x11 -> isSet(CARRY | HIGH_WORD) ? LowBits.UNKNOWN
                    : sum(signed(LowBits.shiftedLeft(first(), (int) (rest >>> 11) & 31)), signed(second()));
            case 0x12 -> LowBits.logic((int) (rest >>> 8) & 0xff, first(), second(), third());
            case 0x16 -> permuted();
            case 0x19 -> shift();
            case 0x24, 0x25 -> isSet(CARRY) ? LowBits.UNKNOWN : sum(signed(LowBits.product(first(), second())), signed(third()));
            case 0x36 -> uniform || isSet(HALVES) ? LowBits.UNKNOWN : sum(signed(first()), signed(second()));
            default -> LowBits.UNKNOWN;
        };
    }

    private static int sum(int one, int two) {
        return LowBits.sum(one, two);
    }

    private boolean isSet(long bits) {
        return (rest & bits) != 0;
    }

    /**
     * If any operand may be negated, returns the facts about one that hold with either sign. The negation bit of the third operand is part of the
     * number of {@code LEA}.
     */
    private int signed(int bits) {
        boolean immediate = form == 2 || form == 4;
        boolean lea = ((int) low & 0x1ff & ~UNIFORM_OPCODES) == 0x11;
        boolean negated = isSet(NEGATED_FIRST) || !lea && isSet(NEGATED_THIRD) || !immediate && low < 0;
        return negated ? LowBits.ofEitherSign(bits) : bits;
    }

    private int shift() {
        int third = third();
        if (form != 4) {
            return LowBits.UNKNOWN;
        }
        long kind = rest & ~(UNIFORM_OPERAND | 0xff);
        int count = InstructionWord.immediate(low);
        if (count < 0 || count >= Integer.SIZE) {
            return LowBits.UNKNOWN;
        }
        if (kind == SHIFT_LEFT && thirdRegister() == zero()) {
            return LowBits.shiftedLeft(first(), count);
        }
        boolean right = (kind == SHIFT_RIGHT || kind == SHIFT_RIGHT_SIGNED) && firstRegister() == zero();
        return right ? LowBits.shiftedRight(third, count) : LowBits.UNKNOWN;
    }

    /** The lowest byte is that of the first or third operand, if the selector says so; other bytes are not followed. */
    private int permuted() {
        boolean plain = form == 4 && (rest & ~(UNIFORM_OPERAND | 0xff)) == 0;
        return switch (plain ? InstructionWord.immediate(low) & 0xf : -1) {
            case 0 -> first();
            case FIRST_OF_THIRD -> third();
            default -> LowBits.UNKNOWN;
        };
    }

    private int zero() {
        return uniform ? InstructionWord.ZERO_UNIFORM : InstructionWord.ZERO_REGISTER;
    }

    private int firstRegister() {
        return InstructionWord.source(low) & (uniform ? InstructionWord.ZERO_UNIFORM : 0xff);
    }

    private int thirdRegister() {
        return (int) rest & (uniform ? InstructionWord.ZERO_UNIFORM : 0xff);
    }

    private int register(int number) {
        return known.value(uniform ? KnownBits.UNIFORM + number : number, predicate);
    }

    private int first() {
        return register(firstRegister());
    }

    /** The second operand: beside the first word's operand, or that. */
    private int second() {
        return isThirdInFirstWord() ? register(thirdRegister()) : inFirstWord();
    }

    private int third() {
        return isThirdInFirstWord() ? inFirstWord() : register(thirdRegister());
    }

    private boolean isThirdInFirstWord() {
        return form == 2 || form == 3 || form == 7;
    }

    /** A register, an immediate, a constant or a uniform register. */
    private int inFirstWord() {
        return switch (form) {
            case 1 -> register((int) (low >>> 32) & (uniform ? InstructionWord.ZERO_UNIFORM : 0xff));
            case 2, 4 -> LowBits.number(InstructionWord.immediate(low));
            case 6, 7 -> known.value(KnownBits.UNIFORM + ((int) (low >>> 32) & InstructionWord.ZERO_UNIFORM), predicate);
            default -> LowBits.UNKNOWN;
        };
    }
}
