package io.tessera.guardian.fence.proof.value;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;

/**
 * Integer arithmetic of one instruction on {@link AbstractValue}s.
 *
 * @param states      source of the operands' values
 * @param index       index of the instruction
 * @param instruction the instruction
 * @param type        its last type
 * @param bits        width of the register that takes the result
 */
public record IntegerTransfer(Operands states, int index, Instruction instruction, ScalarType type, int bits) {
    /** The possible values of operands. */
    public interface Operands {
        /** The possible values of an operand that is read with this number of bits. */
        AbstractValue operand(int index, Operand operand, int bits);

        /** The mask if a difference of two operands leaves the low bits of the first, else 0. */
        long lowBitsOf(int index, Operand whole, Operand part);
    }

    private AbstractValue operand(int number, int width) {
        return states.operand(index, instruction.operands().get(number), width);
    }

    /** The operand as the number that its type says. */
    private AbstractValue number(int number, int width) {
        AbstractValue found = operand(number, width);
        return type.kind() == ScalarType.Kind.SIGNED ? found.signed(width) : found.unsigned(width);
    }

    /** Returns the possible values of the instruction's result. */
    public AbstractValue result() {
        if (!isInteger(type)) {
            return AbstractValue.TOP;
        }
        if (instruction.has("wide")) {
            return wide();
        }
        if (type.bits() != bits) {
            return AbstractValue.TOP;
        }
        return switch (instruction.opcode()) {
            case "add" -> IntervalArithmetic.add(operand(1, bits), operand(2, bits));
            case "sub" -> difference();
            case "neg" -> IntervalArithmetic.negate(operand(1, bits));
            case "abs" -> absolute();
            case "mul" -> product();
            case "mad" -> instruction.has("lo") ? IntervalArithmetic.add(product(), operand(3, bits)) : AbstractValue.TOP;
            case "min" -> IntervalArithmetic.minimum(number(1, bits), number(2, bits));
            case "max" -> IntervalArithmetic.maximum(number(1, bits), number(2, bits));
            case "div" -> quotient();
            case "rem" -> remainder();
            case "shl" -> shiftedLeft();
            case "shr" -> shiftedRight();
            case "and" -> IntervalArithmetic.and(operand(1, bits), operand(2, bits), bits);
            case "or" -> IntervalArithmetic.merge(operand(1, bits), operand(2, bits), bits, false);
            case "xor" -> IntervalArithmetic.merge(operand(1, bits), operand(2, bits), bits, true);
            case "not" -> IntervalArithmetic.subtract(AbstractValue.constant(-1), operand(1, bits).withoutVariable());
            case "bfe" -> field();
            default -> AbstractValue.TOP;
        };
    }

    /** {@code a - b}, where {@code a - (a & 2^k - 1)} is {@code a & -2^k}: how compilers round down what a loop counts. */
    private AbstractValue difference() {
        long rest = states.lowBitsOf(index, instruction.operands().get(1), instruction.operands().get(2));
        AbstractValue difference = IntervalArithmetic.subtract(operand(1, bits), operand(2, bits));
        if (rest <= 0) {
            return difference;
        }
        AbstractValue rounded = IntervalArithmetic.and(operand(1, bits), AbstractValue.constant(~rest), bits);
        return rounded.bounded() ? rounded : difference.withZeros(Long.bitCount(rest));
    }

    private AbstractValue wide() {
        int half = type.bits();
        if (bits != 2 * half || type.kind() == ScalarType.Kind.BITS) {
            return AbstractValue.TOP;
        }
        AbstractValue product = IntervalArithmetic.multiply(number(1, half), number(2, half));
        return switch (instruction.opcode()) {
            case "mul" -> product;
            case "mad" -> IntervalArithmetic.add(product, operand(3, bits));
            default -> AbstractValue.TOP;
        };
    }

    private AbstractValue product() {
        if (instruction.has("lo")) {
            return IntervalArithmetic.multiply(operand(1, bits), operand(2, bits));
        }
        boolean exact = instruction.has("hi") && bits <= 32;
        return exact ? IntervalArithmetic.shiftRight(IntervalArithmetic.multiply(number(1, bits), number(2, bits)), bits)
                : AbstractValue.TOP;
    }

    private AbstractValue absolute() {
        AbstractValue number = operand(1, bits).signed(bits);
        if (!number.bounded()) {
            return AbstractValue.multiple(number.zeros());
        }
        long most = Math.max(Math.abs(number.low()), Math.abs(number.high()));
        return AbstractValue.of(null, false, 0, most, number.zeros());
    }

    private AbstractValue quotient() {
        AbstractValue a = number(1, bits);
        AbstractValue b = number(2, bits);
        if (!a.bounded() || !b.bounded() || b.low() < 1) {
            return AbstractValue.TOP;
        }
        long low = Math.min(a.low() / b.low(), a.low() / b.high());
        long high = Math.max(a.high() / b.low(), a.high() / b.high());
        return AbstractValue.between(low, high);
    }

    private AbstractValue remainder() {
        AbstractValue a = number(1, bits);
        AbstractValue b = number(2, bits);
        if (!b.bounded() || b.low() < 1) {
            return AbstractValue.TOP;
        }
        boolean unsigned = type.kind() != ScalarType.Kind.SIGNED || a.bounded() && a.low() >= 0;
        long high = a.bounded() && a.high() >= 0 ? Math.min(a.high(), b.high() - 1) : b.high() - 1;
        long low = unsigned ? 0 : a.bounded() ? Math.max(Math.min(a.low(), 0), 1 - b.high()) : 1 - b.high();
        return AbstractValue.between(Math.min(low, high), high);
    }

    /** Constant operand 2 as a shift, or -1. */
    private int shift() {
        AbstractValue by = operand(2, 32).unsigned(32);
        return by.isConstant() ? (int) Math.min(by.low(), bits) : -1;
    }

    private AbstractValue shiftedLeft() {
        AbstractValue a = operand(1, bits).withoutVariable();
        int by = shift();
        if (by < 0) {
            return AbstractValue.multiple(a.zeros());
        }
        return by == bits ? AbstractValue.constant(0) : IntervalArithmetic.shiftLeft(a, by);
    }

    private AbstractValue shiftedRight() {
        AbstractValue a = number(1, bits);
        int by = shift();
        boolean signed = type.kind() == ScalarType.Kind.SIGNED;
        if (by >= 0) {
            return bits == 64 && !a.bounded() ? shiftedFrom64(by, signed) : IntervalArithmetic.shiftRight(a, by);
        }
        return a.bounded() ? AbstractValue.between(Math.min(a.low(), 0), Math.max(a.high(), 0)) : AbstractValue.TOP;
    }

    private static AbstractValue shiftedFrom64(int by, boolean signed) {
        if (by < 4 || by >= 64) {
            return AbstractValue.TOP;
        }
        return signed ? AbstractValue.between(Long.MIN_VALUE >> by, Long.MAX_VALUE >> by)
                : AbstractValue.between(0, -1L >>> by);
    }

    /**
     * Returns the possible values of a bit field. A signed field may also be -1, which NVIDIA's assembler uses if a constant start is beyond the
     * word.
     */
    private AbstractValue field() {
        AbstractValue length = operand(3, 32).unsigned(32);
        if (!length.isConstant()) {
            return AbstractValue.TOP;
        }
        int size = (int) (length.low() & 0xFF);
        if (size == 0) {
            return AbstractValue.constant(0);
        }
        if (size >= Math.min(bits, 60)) {
            return AbstractValue.TOP;
        }
        return type.kind() == ScalarType.Kind.SIGNED ? AbstractValue.between(-(1L << size - 1), (1L << size - 1) - 1)
                : AbstractValue.between(0, (1L << size) - 1);
    }

    /** Returns whether it is a scalar integer type, not a packed one. */
    public static boolean isInteger(ScalarType type) {
        return switch (type) {
            case B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64 -> true;
            default -> false;
        };
    }
}
