package io.tessera.software.lowering;

import io.tessera.software.program.Function;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * Local memory of the deepest chain of direct calls. A chain may be as long as a program has functions, so it is followed without recursion.
 *
 * @param frameBytes bytes of all frames of the chain; a cycle counts once
 * @param recursive  whether there is a cycle
 */
record CallDepth(long frameBytes, boolean recursive) {
    private static final int UNKNOWN = -1;
    private static final int ACTIVE = -2;

    /** One function of the current call path, and its next call to be examined. */
    private static final class Visit {
        private final int index;
        private final int frameBytes;
        private final int[] callees;
        private int next;
        private long belowBytes;

        Visit(int index, Function function) {
            this.index = index;
            this.frameBytes = function.frameBytes();
            this.callees = function.code().stream().filter(i -> i.opcode() == Opcode.CALL && i.argument(0) instanceof LoweredOperand.Function)
                    .mapToInt(i -> ((LoweredOperand.Function) i.argument(0)).index()).distinct().toArray();
        }
    }

    /**
     * Determines the depth of calls.
     *
     * @param entry     the kernel's own code
     * @param functions the functions that it reaches, by the indices of its calls
     */
    static CallDepth of(Function entry, List<Function> functions) {
        long[] known = new long[functions.size()];
        Arrays.fill(known, UNKNOWN);
        boolean recursive = false;
        Deque<Visit> open = new ArrayDeque<>();
        Visit visit = new Visit(UNKNOWN, entry);
        while (true) {
            if (visit.next < visit.callees.length) {
                int callee = visit.callees[visit.next];
                if (known[callee] == UNKNOWN) {
                    known[callee] = ACTIVE;
                    open.push(visit);
                    visit = new Visit(callee, functions.get(callee));
                    continue;
                }
                recursive |= known[callee] == ACTIVE;
                visit.belowBytes = Math.max(visit.belowBytes, known[callee]);
                visit.next++;
                continue;
            }
            long bytes = visit.frameBytes + visit.belowBytes;
            if (open.isEmpty()) {
                return new CallDepth(bytes, recursive);
            }
            known[visit.index] = bytes;
            visit = open.pop();
        }
    }
}
