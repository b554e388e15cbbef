package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.LaneArithmetic;
import io.tessera.software.arithmetic.VideoArithmetic;
import io.tessera.software.arithmetic.VideoArithmetic.Part;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.VideoSigns;

/** Video instructions on scalars and on lanes. Stateless. */
final class VideoOperations {
    // Places of the arguments.
    private static final int C = 2;
    private static final int SELECTOR_A = 3;
    private static final int SELECTOR_B = 4;
    private static final int SELECTOR_RESULT = 5;
    private static final int SIGNS = 6;

    private VideoOperations() {
    }

    /** Returns the result of an instruction with several lanes. */
    static long lanes(LoweredInstruction i, long[] bits) {
        int width = 32 / i.opcode().videoLanes();
        boolean compares = i.opcode() == Opcode.VSET2 || i.opcode() == Opcode.VSET4;
        int operands = compares ? 0 : 1;
        LaneArithmetic.Signs signs = new LaneArithmetic.Signs(!compares && i.types().get(0).isSigned(),
                i.types().get(operands).isSigned(), i.types().get(operands + 1).isSigned());
        LaneArithmetic.Selection lanes = new LaneArithmetic.Selection((int) bits[SELECTOR_A], (int) bits[SELECTOR_B],
                (int) bits[SELECTOR_RESULT]);
        int a = (int) bits[0];
        int b = (int) bits[1];
        int c = (int) bits[C];
        return i.has(Modifier.ADD) ? LaneArithmetic.sum(width, operation(i), signs, lanes, a, b, c)
                : LaneArithmetic.map(width, operation(i), signs, i.has(Modifier.SAT), lanes, a, b, c);
    }

    private static LaneArithmetic.Operation operation(LoweredInstruction i) {
        return switch (i.opcode()) {
            case VADD2, VADD4 -> Integer::sum;
            case VSUB2, VSUB4 -> (a, b) -> a - b;
            case VAVRG2, VAVRG4 -> LaneArithmetic::average;
            case VABSDIFF2, VABSDIFF4 -> (a, b) -> Math.abs(a - b);
            case VMIN2, VMIN4 -> Math::min;
            case VMAX2, VMAX4 -> Math::max;
            case VSET2, VSET4 -> {
                Modifier comparison = comparison(i);
                yield (a, b) -> holds(comparison, a, b) ? 1 : 0;
            }
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static Modifier comparison(LoweredInstruction i) {
        Modifier comparison = i.firstOf(Modifier.EQ, Modifier.NE, Modifier.LT, Modifier.LE, Modifier.GT, Modifier.GE);
        if (comparison == null) {
            throw new UnsupportedOperationException(i.spelling());
        }
        return comparison;
    }

    private static boolean holds(Modifier comparison, long a, long b) {
        return switch (comparison) {
            case EQ -> a == b;
            case NE -> a != b;
            case LT -> a < b;
            case LE -> a <= b;
            case GT -> a > b;
            default -> a >= b;
        };
    }

    /** Returns the result of an instruction on scalars. */
    static long scalar(LoweredInstruction i, long[] bits) {
        boolean compares = i.opcode() == Opcode.VSET;
        int operands = compares ? 0 : 1;
        boolean signedA = i.types().get(operands).isSigned();
        boolean signedB = i.types().get(operands + 1).isSigned();
        // Zeros, with which an instruction is tried, select nothing; whole words then do as well.
        long a = part(bits[SELECTOR_A]).of(bits[0], signedA);
        long b = part(bits[SELECTOR_B]).of(bits[1], signedB);
        if (i.opcode() == Opcode.VMAD) {
            return multiplyAdd(i, a, b, bits, signedA || signedB);
        }
        boolean signed = !compares && i.type().isSigned();
        Part to = part(bits[SELECTOR_RESULT]);
        long value = compute(i, a, b);
        if (i.has(Modifier.SAT)) {
            value = to.clamp(value, signed);
        }
        if (to.bits() < 32) {
            return to.merge(bits[C], value);
        }
        boolean third = ((int) bits[SIGNS] & VideoSigns.THIRD) != 0;
        long c = signed ? (int) bits[C] : bits[C];
        return !third ? value : switch (i.firstOf(Modifier.ADD, Modifier.MIN, Modifier.MAX)) {
            case ADD -> value + c;
            case MIN -> Math.min(value, c);
            case MAX -> Math.max(value, c);
            case null, default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static Part part(long code) {
        return code == 0 ? new Part(0, 32) : Part.ofCode(code);
    }

    private static long compute(LoweredInstruction i, long a, long b) {
        return switch (i.opcode()) {
            case VADD -> a + b;
            case VSUB -> a - b;
            case VABSDIFF -> Math.abs(a - b);
            case VMIN -> Math.min(a, b);
            case VMAX -> Math.max(a, b);
            case VSHL -> VideoArithmetic.shiftLeft(a, distance(i, b));
            case VSHR -> VideoArithmetic.shiftRight(a, distance(i, b));
            default -> holds(comparison(i), a, b) ? 1 : 0;
        };
    }

    private static long distance(LoweredInstruction i, long b) {
        Modifier mode = i.firstOf(Modifier.CLAMP, Modifier.WRAP);
        if (mode == null) {
            throw new UnsupportedOperationException(i.spelling());
        }
        return mode == Modifier.WRAP ? b & 31 : b;
    }

    private static long multiplyAdd(LoweredInstruction i, long a, long b, long[] bits, boolean signedFactors) {
        int signs = (int) bits[SIGNS];
        boolean product = (signs & VideoSigns.PRODUCT) != 0;
        boolean addend = (signs & VideoSigns.ADDEND) != 0;
        int scale = i.has(Modifier.SHR7) ? 7 : i.has(Modifier.SHR15) ? 15 : 0;
        return VideoArithmetic.multiplyAdd(a, b, bits[C], signedFactors || product || addend,
                new VideoArithmetic.Multiplication(product, addend, i.has(Modifier.PO), scale, i.has(Modifier.SAT)));
    }
}
