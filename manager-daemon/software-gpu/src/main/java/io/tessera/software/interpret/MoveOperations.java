package io.tessera.software.interpret;

import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;

/** {@code mov}: plain, packing a vector into a register, unpacking one. Stateless. */
final class MoveOperations {
    private MoveOperations() {
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        int bits = i.type().bits();
        if (i.arguments().size() > 1) {
            pack(i, frame, thread, bits / i.arguments().size());
        } else if (i.results().size() > 1) {
            unpack(i, frame, thread, bits / i.results().size());
        } else if (bits == 128) {
            frame.setWide(i.result(), frame.argument(thread, i, 0), frame.high(i.argument(0)));
        } else {
            frame.set(i.result(), frame.argument(thread, i, 0));
        }
    }

    private static void pack(LoweredInstruction i, Frame frame, ThreadState thread, int elementBits) {
        long[] halves = new long[2];
        for (int k = 0; k < i.arguments().size(); k++) {
            long value = frame.argument(thread, i, k);
            long element = elementBits == 64 ? value : value & (1L << elementBits) - 1;
            halves[k * elementBits / 64] |= element << k * elementBits;
        }
        if (i.type().bits() == 128) {
            frame.setWide(i.result(), halves[0], halves[1]);
        } else {
            frame.set(i.result(), halves[0]);
        }
    }

    private static void unpack(LoweredInstruction i, Frame frame, ThreadState thread, int elementBits) {
        LoweredOperand source = i.argument(0);
        long low = frame.value(thread, source);
        long high = i.type().bits() == 128 ? frame.high(source) : 0;
        for (int k = 0; k < i.results().size(); k++) {
            long half = k * elementBits < 64 ? low : high;
            long element = half >>> k * elementBits;
            frame.set(i.results().get(k), elementBits == 64 ? element : element & (1L << elementBits) - 1);
        }
    }
}
