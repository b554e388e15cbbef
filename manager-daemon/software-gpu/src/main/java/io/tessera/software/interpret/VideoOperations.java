package io.tessera.software.interpret;

import io.tessera.software.arithmetic.LaneArithmetic;
import io.tessera.software.program.Instruction;
import io.tessera.software.program.Modifier;

/** SIMD video instructions without selectors and masks. Stateless. */
final class VideoOperations {
    private VideoOperations() {
    }

    /** The result; all lanes are written, so the word to merge with does not matter, only the one to add to. */
    static long compute(Instruction i, long[] bits) {
        int width = i.opcode().name().endsWith("2") ? 16 : 8;
        LaneArithmetic.Signs signs = new LaneArithmetic.Signs(i.types().get(0).isSigned(), i.types().get(1).isSigned(),
                i.types().get(2).isSigned());
        int a = (int) bits[0];
        int b = (int) bits[1];
        return i.has(Modifier.ADD) ? LaneArithmetic.sum(width, operation(i), signs, a, b, (int) bits[2])
                : LaneArithmetic.map(width, operation(i), signs, i.has(Modifier.SAT), a, b);
    }

    private static LaneArithmetic.Operation operation(Instruction i) {
        return switch (i.opcode()) {
            case VADD2, VADD4 -> Integer::sum;
            case VSUB2, VSUB4 -> (a, b) -> a - b;
            case VAVRG2, VAVRG4 -> LaneArithmetic::average;
            case VABSDIFF2, VABSDIFF4 -> (a, b) -> Math.abs(a - b);
            case VMIN2, VMIN4 -> Math::min;
            case VMAX2, VMAX4 -> Math::max;
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }
}
