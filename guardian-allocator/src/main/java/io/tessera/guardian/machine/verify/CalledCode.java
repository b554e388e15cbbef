package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;

/** Finds the registers that a function within a section may change, for example a division routine that compilers put after a kernel. Stateless. */
final class CalledCode {
    private CalledCode() {
    }

    /**
     * Follows all paths from a function's start to its returns.
     *
     * @return the registers and words of the stack that it may write, numbered as {@link ScalarRegisters} does; null: it may change more
     */
    static BitSet writes(SectionFlow flow, int start) {
        BitSet written = new BitSet();
        BitSet seen = new BitSet();
        Deque<Integer> open = new ArrayDeque<>();
        open.add(start);
        seen.set(start);
        while (!open.isEmpty()) {
            int at = open.remove();
            int end = flow.blockEnd(at);
            for (int i = at; i < end; i++) {
                if (goesOn(flow.operation(i)) || !ScalarRegisters.written(written, flow.low(i), flow.high(i), flow.operation(i))) {
                    return null;
                }
            }
            for (int next : flow.successors(end - 1)) {
                if (!seen.get(next)) {
                    seen.set(next);
                    open.add(next);
                }
            }
        }
        return written;
    }

    private static boolean goesOn(MachineOpcode operation) {
        return switch (operation.kind()) {
            case CALL, CALL_SYMBOL, CALL_REGISTER, INDIRECT_BRANCH, COLLECTIVE, REGISTER_COUNT -> true;
            default -> false;
        };
    }
}
