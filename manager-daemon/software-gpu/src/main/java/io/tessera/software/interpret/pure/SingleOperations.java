package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.Approximations;
import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;

/** Arithmetic of {@code .f32}. Stateless. */
final class SingleOperations {
    private SingleOperations() {
    }

    static long compute(LoweredInstruction i, long[] bits) {
        boolean flush = i.has(Modifier.FTZ);
        float a = operand(bits, 0, flush);
        float b = operand(bits, 1, flush);
        float c = operand(bits, 2, flush);
        boolean magnitudes = i.has(Modifier.XORSIGN);
        float result = magnitudes ? result(i, SingleArithmetic.abs(a), SingleArithmetic.abs(b), c)
                : result(i, a, b, c);
        if (flush) {
            result = flush(i, result, a, b, c);
        }
        if (magnitudes) {
            result = SingleArithmetic.xorSign(result, operand(bits, 0, false), operand(bits, 1, false));
        }
        if (i.has(Modifier.SAT)) {
            result = SingleArithmetic.saturate(result);
        }
        return Integer.toUnsignedLong(Float.floatToRawIntBits(result));
    }

    private static float flush(LoweredInstruction i, float result, float a, float b, float c) {
        return switch (i.opcode()) {
            case MUL -> SingleArithmetic.flushProduct(result, a, b, RoundingModes.ofFloat(i));
            case MAD, FMA -> SingleArithmetic.flushFma(result, a, b, c, RoundingModes.ofFloat(i));
            default -> SingleArithmetic.flush(result);
        };
    }

    private static float operand(long[] bits, int place, boolean flush) {
        float value = place < bits.length ? Float.intBitsToFloat((int) bits[place]) : 0;
        return flush ? SingleArithmetic.flush(value) : value;
    }

    private static float result(LoweredInstruction i, float a, float b, float c) {
        Rounding rounding = RoundingModes.ofFloat(i);
        boolean approximate = i.has(Modifier.APPROX);
        boolean nan = i.has(Modifier.NAN);
        if ((i.opcode() == Opcode.MIN || i.opcode() == Opcode.MAX) && i.arguments().size() != 2) {
            throw new UnsupportedOperationException(i.spelling());
        }
        return switch (i.opcode()) {
            case ADD -> SingleArithmetic.canonical(SingleArithmetic.add(a, b, rounding));
            case SUB -> SingleArithmetic.canonical(SingleArithmetic.sub(a, b, rounding));
            case MUL -> SingleArithmetic.canonical(SingleArithmetic.mul(a, b, rounding));
            case MAD, FMA -> SingleArithmetic.canonical(SingleArithmetic.fma(a, b, c, rounding));
            case DIV -> approximate ? Approximations.divApprox(a, b)
                    : i.has(Modifier.FULL) ? Approximations.divFull(a, b) : SingleArithmetic.div(a, b, rounding);
            case RCP -> approximate ? Approximations.rcp(a) : SingleArithmetic.rcp(a, rounding);
            case SQRT -> approximate ? Approximations.sqrt(a) : SingleArithmetic.sqrt(a, rounding);
            case RSQRT -> Approximations.rsqrt(a);
            case SIN -> Approximations.sin(a);
            case COS -> Approximations.cos(a);
            case LG2 -> Approximations.lg2(a);
            case EX2 -> Approximations.ex2(a);
            case TANH -> Approximations.tanh(a);
            case ABS -> SingleArithmetic.abs(a);
            case NEG -> SingleArithmetic.neg(a);
            case COPYSIGN -> SingleArithmetic.copySign(a, b);
            case MIN -> nan ? SingleArithmetic.minNan(a, b) : SingleArithmetic.min(a, b);
            case MAX -> nan ? SingleArithmetic.maxNan(a, b) : SingleArithmetic.max(a, b);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }
}
