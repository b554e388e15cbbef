package io.tessera.software.execution;

/** One named barrier of a block: counts arrivals until as many threads as expected have come. */
final class Barrier {
    /** Threads expected in this phase; 0 before the first arrival. */
    private int expected;
    private int arrived;
    private int population;
    private boolean all = true;
    private boolean any;
    private int phase;
    /** Outcome of the last complete phase. */
    private int lastPopulation;
    private boolean lastAll;
    private boolean lastAny;

    void reset() {
        expected = 0;
        arrived = 0;
        population = 0;
        all = true;
        any = false;
    }

    /** Completed phases; a thread that waits notes the number and goes on when it has changed. */
    int phase() {
        return phase;
    }

    void arriveOnly(int threads) {
        arrive(threads, 0, false);
    }

    void arrive(int threads, long predicate, boolean votes) {
        expected = threads;
        arrived++;
        if (votes) {
            population += (int) predicate;
            all &= predicate != 0;
            any |= predicate != 0;
        }
        if (arrived >= expected) {
            complete();
        }
    }

    /** A barrier of the whole block does not wait for threads that have exited. */
    void threadsLeft(int live, int blockThreads) {
        if (expected == blockThreads && arrived > 0 && arrived >= live) {
            complete();
        }
    }

    private void complete() {
        lastPopulation = population;
        lastAll = all;
        lastAny = any;
        phase++;
        reset();
    }

    long outcome(BarrierOperation operation) {
        return switch (operation) {
            case NONE -> 0;
            case POPC -> lastPopulation;
            case AND -> lastAll ? 1 : 0;
            case OR -> lastAny ? 1 : 0;
        };
    }
}
