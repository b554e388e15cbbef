package io.tessera.software.interpret.pure;

import static io.tessera.software.arithmetic.IntegerArithmetic.addPacked;
import static io.tessera.software.arithmetic.IntegerArithmetic.addSat;
import static io.tessera.software.arithmetic.IntegerArithmetic.mad24HiSat;
import static io.tessera.software.arithmetic.IntegerArithmetic.madHiSat;
import static io.tessera.software.arithmetic.IntegerArithmetic.mul24HiS32;
import static io.tessera.software.arithmetic.IntegerArithmetic.mul24HiU32;
import static io.tessera.software.arithmetic.IntegerArithmetic.mul24LoS32;
import static io.tessera.software.arithmetic.IntegerArithmetic.mul24LoU32;
import static io.tessera.software.arithmetic.IntegerArithmetic.subSat;

import io.tessera.software.arithmetic.IntegerArithmetic;
import io.tessera.software.arithmetic.PackedArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;

/** Integer arithmetic without carry. Stateless. */
final class IntegerOperations {
    private IntegerOperations() {
    }

    static long compute(LoweredInstruction i, long[] bits) {
        ValueType type = i.type();
        long a = IntegerValues.of(type, bits[0]);
        long b = bits.length > 1 ? IntegerValues.of(type, bits[1]) : 0;
        boolean saturate = i.has(Modifier.SAT);
        return switch (i.opcode()) {
            case ADD -> saturate ? addSat((int) a, (int) b) : a + b;
            case SUB -> saturate ? subSat((int) a, (int) b) : a - b;
            case MUL -> multiply(i, a, b);
            case MAD -> saturate && i.has(Modifier.HI) ? madHiSat((int) a, (int) b, (int) bits[2])
                    : multiply(i, a, b) + bits[2];
            case MUL24 -> multiply24(i, (int) a, (int) b);
            case MAD24 -> saturate ? mad24HiSat((int) a, (int) b, (int) bits[2])
                    : multiply24(i, (int) a, (int) b) + bits[2];
            case SAD -> sumOfDifference(type, a, b, bits[2]);
            case DIV -> divide(type, a, b);
            case REM -> remainder(type, a, b);
            case ABS -> Math.abs(a);
            case NEG -> -a;
            case MIN -> relu(i, type.isSigned() ? Math.min(a, b) : IntegerArithmetic.minU64(a, b));
            case MAX -> relu(i, type.isSigned() ? Math.max(a, b) : IntegerArithmetic.maxU64(a, b));
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static long relu(LoweredInstruction i, long value) {
        return i.has(Modifier.RELU) ? Math.max(0, value) : value;
    }

    /** Low half, high half or whole product; the operands are extended already. */
    private static long multiply(LoweredInstruction i, long a, long b) {
        ValueType type = i.type();
        if (!i.has(Modifier.HI)) {
            return a * b;
        }
        if (type.bits() == 64) {
            return type.isSigned() ? Math.multiplyHigh(a, b) : Math.unsignedMultiplyHigh(a, b);
        }
        return type.isSigned() ? a * b >> type.bits() : a * b >>> type.bits();
    }

    private static long multiply24(LoweredInstruction i, int a, int b) {
        boolean signed = i.type().isSigned();
        if (i.has(Modifier.HI)) {
            return signed ? mul24HiS32(a, b) : mul24HiU32(a, b);
        }
        return signed ? mul24LoS32(a, b) : mul24LoU32(a, b);
    }

    private static long sumOfDifference(ValueType type, long a, long b, long c) {
        boolean less = type.isSigned() ? a < b : Long.compareUnsigned(a, b) < 0;
        return c + (less ? b - a : a - b);
    }

    private static long divide(ValueType type, long a, long b) {
        return switch (type) {
            case S16 -> IntegerArithmetic.divS16((int) a, (int) b);
            case U16 -> IntegerArithmetic.divU16((int) a, (int) b);
            case S32 -> IntegerArithmetic.divS32((int) a, (int) b);
            case U32 -> IntegerArithmetic.divU32((int) a, (int) b);
            case S64 -> IntegerArithmetic.divS64(a, b);
            default -> IntegerArithmetic.divU64(a, b);
        };
    }

    private static long remainder(ValueType type, long a, long b) {
        return switch (type) {
            case S16 -> IntegerArithmetic.remS16((int) a, (int) b);
            case U16 -> IntegerArithmetic.remU16((int) a, (int) b);
            case S32 -> IntegerArithmetic.remS32((int) a, (int) b);
            case U32 -> IntegerArithmetic.remU32((int) a, (int) b);
            case S64 -> IntegerArithmetic.remS64(a, b);
            default -> IntegerArithmetic.remU64(a, b);
        };
    }

    static long packed(LoweredInstruction i, long[] bits) {
        int a = (int) bits[0];
        int b = bits.length > 1 ? (int) bits[1] : 0;
        boolean signed = i.type() == ValueType.S16X2;
        int result = switch (i.opcode()) {
            case ADD -> addPacked(a, b);
            case MIN -> signed ? PackedArithmetic.map(IntegerArithmetic::minS16, a, b)
                    : PackedArithmetic.map(IntegerArithmetic::minU16, a, b);
            case MAX -> signed ? PackedArithmetic.map(IntegerArithmetic::maxS16, a, b)
                    : PackedArithmetic.map(IntegerArithmetic::maxU16, a, b);
            case NEG -> PackedArithmetic.map(x -> -x, a);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
        return i.has(Modifier.RELU) ? PackedArithmetic.map(x -> Math.max((short) x, 0), result) : result;
    }
}
