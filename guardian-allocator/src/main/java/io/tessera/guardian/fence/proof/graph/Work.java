package io.tessera.guardian.fence.proof.graph;

/**
 * Limit on the steps for the graph of a function, in proportion to its length. A text can be written for which dominators, their frontiers or loops
 * take quadratic time; such a function is not analysed. Not thread-safe.
 */
final class Work {
    private static final long LEAST = 1 << 20;
    /** Many times what functions of compilers take. */
    private static final long FOR_AN_INSTRUCTION = 512;

    private long left;

    /** A graph takes more steps than are left. */
    static final class SpentException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private SpentException() {
            super("too many steps", null, false, false);
        }
    }

    /** Creates the limit for a function with this many instructions. */
    Work(int instructions) {
        left = LEAST + FOR_AN_INSTRUCTION * instructions;
    }

    /** Takes steps. */
    void spend(long steps) {
        left -= steps;
        if (left < 0) {
            throw new SpentException();
        }
    }
}
