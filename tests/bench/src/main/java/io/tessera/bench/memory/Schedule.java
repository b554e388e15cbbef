package io.tessera.bench.memory;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Order of operations of several programs that take turns: a random one does 1 to 64 operations; a program that has reached its end begins
 * again. The same seed gives the same order. Not thread-safe.
 */
final class Schedule {
    private static final int LONGEST_TURN = 64;

    private final List<MemoryTrace> traces;
    private final int[] next;
    private final SplittableRandom random;
    private int left;
    private int program;
    private int at;

    /** @param traces none of them empty */
    Schedule(List<MemoryTrace> traces, long seed) {
        if (traces.isEmpty() || traces.stream().anyMatch(trace -> trace.length() == 0)) {
            throw new IllegalArgumentException("a program without an operation");
        }
        this.traces = traces;
        this.next = new int[traces.size()];
        this.random = new SplittableRandom(seed);
    }

    /** Advances by one operation. */
    void next() {
        if (left == 0) {
            program = random.nextInt(next.length);
            left = 1 + random.nextInt(LONGEST_TURN);
        }
        left--;
        at = next[program];
        next[program] = at + 1 == traces.get(program).length() ? 0 : at + 1;
    }

    /** Returns the program of the operation. */
    int program() {
        return program;
    }

    /** Returns the index of the operation in its trace. */
    int at() {
        return at;
    }
}
