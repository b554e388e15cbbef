package io.tessera.software.interpret;

import io.tessera.software.arithmetic.BitOperations;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;

/** {@code lop3}, with or without its second result, a predicate. Stateless. */
final class TruthTableOperations {
    private TruthTableOperations() {
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        int result = BitOperations.lop3((int) frame.argument(thread, i, 0), (int) frame.argument(thread, i, 1),
                (int) frame.argument(thread, i, 2), (int) frame.argument(thread, i, 3));
        frame.set(i.result(), result);
        if (i.results().size() > 1) {
            boolean other = frame.argument(thread, i, 4) != 0;
            boolean nonZero = result != 0;
            frame.set(i.results().get(1), (i.has(Modifier.AND) ? nonZero & other : nonZero | other) ? 1 : 0);
        }
    }
}
