package io.tessera.software.execution;

/**
 * One named barrier of a block: counts arrivals until as many threads as expected have come. The last warp counts as a full one even if the block has too few
 * threads for it, as on a GPU.
 */
final class Barrier {
    private static final int WARP = 32;

    private final int blockThreads;
    /** Threads expected in this phase; 0 before the first arrival. */
    private int expected;
    /** Whether the expected threads are all threads of the block. */
    private boolean whole;
    private int arrived;
    /** As above, including the missing lanes of the last warp. */
    private int counted;
    private int population;
    private boolean all = true;
    private boolean any;
    private int phase;
    /** Outcome of the last complete phase. */
    private int lastPopulation;
    private boolean lastAll;
    private boolean lastAny;

    /** Creates an instance in a block of this many threads. */
    Barrier(int blockThreads) {
        this.blockThreads = blockThreads;
    }

    void reset() {
        expected = 0;
        arrived = 0;
        counted = 0;
        population = 0;
        all = true;
        any = false;
    }

    /** Returns the number of completed phases; a thread that waits notes the number and continues when it has changed. */
    int phase() {
        return phase;
    }

    /**
     * A thread arrives and does not vote.
     *
     * @param threads that are waited for; 0: all of the block
     * @param thread  its number in the block
     */
    void arriveOnly(int threads, int thread) {
        arrive(threads, thread, 0, false);
    }

    /** A thread arrives. */
    void arrive(int threads, int thread, long predicate, boolean votes) {
        int missing = -blockThreads & WARP - 1;
        whole = threads == 0 || threads == blockThreads + missing;
        expected = whole ? blockThreads : threads;
        arrived++;
        counted += thread == blockThreads - 1 ? 1 + missing : 1;
        if (votes) {
            population += (int) predicate;
            all &= predicate != 0;
            any |= predicate != 0;
        }
        if ((whole ? arrived : counted) >= expected) {
            complete();
        }
    }

    /** A barrier of the whole block does not wait for threads that have exited. */
    void threadsLeft(int live) {
        if (whole && arrived > 0 && arrived >= live) {
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
