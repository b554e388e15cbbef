package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.Approximations;
import io.tessera.software.arithmetic.BrainArithmetic;
import io.tessera.software.arithmetic.HalfArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;

/** Arithmetic of {@code .f16} and {@code .bf16}, single and packed. Stateless. */
final class HalfOperations {
    private HalfOperations() {
    }

    /** Returns the element's operation on both halves. */
    static long packed(LoweredInstruction i, long[] bits) {
        long[] low = new long[bits.length];
        long[] high = new long[bits.length];
        for (int k = 0; k < bits.length; k++) {
            low[k] = bits[k] & 0xFFFF;
            high[k] = bits[k] >>> 16 & 0xFFFF;
        }
        return compute(i, low) | compute(i, high) << 16;
    }

    static long compute(LoweredInstruction i, long[] bits) {
        boolean brain = i.type().element() == ValueType.BF16;
        boolean flush = i.has(Modifier.FTZ);
        int a = operand(bits, 0, flush, brain);
        int b = operand(bits, 1, flush, brain);
        int c = operand(bits, 2, flush, brain);
        if ((i.opcode() == Opcode.MIN || i.opcode() == Opcode.MAX) && i.arguments().size() != 2) {
            throw new UnsupportedOperationException(i.spelling());
        }
        if (i.has(Modifier.XORSIGN)) {
            a = brain ? BrainArithmetic.abs(a) : HalfArithmetic.abs(a);
            b = brain ? BrainArithmetic.abs(b) : HalfArithmetic.abs(b);
        }
        int result = brain ? brain(i, a, b, c) : half(i, a, b, c);
        if (flush) {
            result = brain ? BrainArithmetic.flush(result) : i.opcode() == Opcode.MUL
                    ? HalfArithmetic.flushProduct(result, a, b) : HalfArithmetic.flush(result);
        }
        if (i.has(Modifier.XORSIGN)) {
            result = HalfArithmetic.xorSign(result, operand(bits, 0, false, brain), operand(bits, 1, false, brain));
        }
        if (i.has(Modifier.SAT)) {
            result = brain ? BrainArithmetic.saturate(result) : HalfArithmetic.saturate(result);
        }
        if (i.has(Modifier.RELU)) {
            result = brain ? BrainArithmetic.relu(result) : HalfArithmetic.relu(result);
        }
        return result & 0xFFFF;
    }

    private static int operand(long[] bits, int place, boolean flush, boolean brain) {
        int value = place < bits.length ? (int) bits[place] & 0xFFFF : 0;
        return !flush ? value : brain ? BrainArithmetic.flush(value) : HalfArithmetic.flush(value);
    }

    private static int half(LoweredInstruction i, int a, int b, int c) {
        boolean nan = i.has(Modifier.NAN);
        return switch (i.opcode()) {
            case ADD -> HalfArithmetic.add(a, b);
            case SUB -> HalfArithmetic.sub(a, b);
            case MUL -> HalfArithmetic.mul(a, b);
            case FMA -> HalfArithmetic.fma(a, b, c);
            case ABS -> HalfArithmetic.abs(a);
            case NEG -> HalfArithmetic.neg(a);
            case MIN -> nan ? HalfArithmetic.minNan(a, b) : HalfArithmetic.min(a, b);
            case MAX -> nan ? HalfArithmetic.maxNan(a, b) : HalfArithmetic.max(a, b);
            case EX2 -> Approximations.ex2Half(a);
            case TANH -> Approximations.tanhHalf(a);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static int brain(LoweredInstruction i, int a, int b, int c) {
        boolean nan = i.has(Modifier.NAN);
        return switch (i.opcode()) {
            case ADD -> BrainArithmetic.add(a, b);
            case SUB -> BrainArithmetic.sub(a, b);
            case MUL -> BrainArithmetic.mul(a, b);
            case FMA -> BrainArithmetic.fma(a, b, c);
            case ABS -> BrainArithmetic.abs(a);
            case NEG -> BrainArithmetic.neg(a);
            case MIN -> nan ? BrainArithmetic.minNan(a, b) : BrainArithmetic.min(a, b);
            case MAX -> nan ? BrainArithmetic.maxNan(a, b) : BrainArithmetic.max(a, b);
            case EX2 -> Approximations.ex2Brain(a);
            case TANH -> Approximations.tanhBrain(a);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }
}
