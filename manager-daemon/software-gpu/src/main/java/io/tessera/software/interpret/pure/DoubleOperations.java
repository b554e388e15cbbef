package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.Approximations;
import io.tessera.software.arithmetic.DoubleArithmetic;
import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;

/** Arithmetic of {@code .f64}. Stateless. */
final class DoubleOperations {
    private DoubleOperations() {
    }

    static long compute(LoweredInstruction i, long[] bits) {
        double result = result(i, operand(bits, 0), operand(bits, 1), operand(bits, 2));
        return Double.doubleToRawLongBits(i.has(Modifier.SAT) ? DoubleArithmetic.saturate(result) : result);
    }

    private static double operand(long[] bits, int place) {
        return place < bits.length ? Double.longBitsToDouble(bits[place]) : 0;
    }

    private static double result(LoweredInstruction i, double a, double b, double c) {
        Rounding rounding = RoundingModes.ofFloat(i);
        boolean flush = i.has(Modifier.FTZ);
        return switch (i.opcode()) {
            case ADD -> DoubleArithmetic.add(a, b, rounding);
            case SUB -> DoubleArithmetic.sub(a, b, rounding);
            case MUL -> DoubleArithmetic.mul(a, b, rounding);
            case MAD, FMA -> DoubleArithmetic.fma(a, b, c, rounding);
            case DIV -> DoubleArithmetic.div(a, b, rounding);
            case RCP -> i.has(Modifier.APPROX) ? Approximations.rcpDouble(a) : DoubleArithmetic.rcp(a, rounding);
            case SQRT -> DoubleArithmetic.sqrt(a, rounding);
            case RSQRT -> flush ? Approximations.rsqrtDouble(a) : Approximations.rsqrtFull(a);
            case ABS -> DoubleArithmetic.abs(a);
            case NEG -> DoubleArithmetic.neg(a);
            case COPYSIGN -> DoubleArithmetic.copySign(a, b);
            case MIN -> DoubleArithmetic.min(a, b);
            case MAX -> DoubleArithmetic.max(a, b);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }
}
