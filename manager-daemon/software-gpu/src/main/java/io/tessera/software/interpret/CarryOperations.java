package io.tessera.software.interpret;

import io.tessera.software.arithmetic.CarryArithmetic;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;

/** Extended precision: add, sub and mad that read or write the carry. Stateless. */
final class CarryOperations {
    private CarryOperations() {
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        long a = frame.argument(thread, i, 0);
        long b = frame.argument(thread, i, 1);
        boolean wide = i.type().bits() == 64;
        switch (i.opcode()) {
            case ADD -> add(i, frame, a, b, 0, wide);
            case ADDC -> add(i, frame, a, b, frame.carry, wide);
            case SUB -> add(i, frame, a, ~b, 1, wide);
            case SUBC -> add(i, frame, a, ~b, frame.carry, wide);
            case MAD -> add(i, frame, product(i, a, b, wide), frame.argument(thread, i, 2), 0, wide);
            default -> add(i, frame, product(i, a, b, wide), frame.argument(thread, i, 2), frame.carry, wide);
        }
    }

    private static long product(LoweredInstruction i, long a, long b, boolean wide) {
        if (!i.has(Modifier.HI)) {
            return a * b;
        }
        boolean signed = i.type().isSigned();
        if (wide) {
            return signed ? Math.multiplyHigh(a, b) : Math.unsignedMultiplyHigh(a, b);
        }
        return signed ? (long) (int) a * (int) b >> 32 : (a & 0xFFFFFFFFL) * (b & 0xFFFFFFFFL) >>> 32;
    }

    private static void add(LoweredInstruction i, Frame frame, long a, long b, int carry, boolean wide) {
        if (i.has(Modifier.CC)) {
            frame.carry = wide ? CarryArithmetic.carryOfSum(a, b, carry)
                    : CarryArithmetic.carryOfSum((int) a, (int) b, carry);
        }
        frame.set(i.result(), a + b + carry);
    }
}
