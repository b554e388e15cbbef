package io.tessera.guardian.verify;

/**
 * Remaining work for a text. The verifier's steps that may exceed the length of the text are counted here, so the time for a module is bounded by its
 * size, whatever its contents; each text has its own budget. Used by one thread.
 */
public final class WorkBudget {
    /** Ten times what the modules of the tests take, 0.1 to 0.18; their fences decide that, not what they compute. */
    private static final long STEPS_PER_BYTE = 2;
    private static final long LEAST_STEPS = 1 << 18;

    private long left;
    private long spent;

    /** The bytes' share is used up. */
    public static final class SpentException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        SpentException() {
            super("takes more work to verify than a text of its size may", null, false, false);
        }
    }

    private WorkBudget(long steps) {
        left = steps;
    }

    /** Returns the budget for a text of this many bytes. */
    public static WorkBudget ofBytes(long bytes) {
        return new WorkBudget(LEAST_STEPS + STEPS_PER_BYTE * bytes);
    }

    /** Returns a budget of this many steps. */
    public static WorkBudget ofSteps(long steps) {
        return new WorkBudget(steps);
    }

    /** Some steps are done. */
    public void spend(long steps) {
        left -= steps;
        spent += steps;
        if (left < 0) {
            throw new SpentException();
        }
    }

    /** Steps that were done. */
    public long spent() {
        return spent;
    }
}
