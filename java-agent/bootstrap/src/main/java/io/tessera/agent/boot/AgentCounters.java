package io.tessera.agent.boot;

import java.util.concurrent.atomic.LongAdder;

/** The agent's counters of its own faults and losses. Any thread; nothing here throws. */
public final class AgentCounters {
    private static final LongAdder SUPPRESSED = new LongAdder();
    private static final LongAdder DROPPED = new LongAdder();
    private static volatile Throwable last;

    private AgentCounters() {
    }

    /**
     * Counts an error in the agent's own code that is hidden from the application (AGENT_SUPPRESSED).
     *
     * @param failure the error
     */
    public static void suppressed(Throwable failure) {
        SUPPRESSED.increment();
        last = failure;
    }

    /** Counts an event that was lost because its table was full. */
    static void drop() {
        DROPPED.increment();
    }

    /**
     * Returns the number of errors hidden from the application.
     *
     * @return how many since the start
     */
    public static long suppressed() {
        return SUPPRESSED.sum();
    }

    /**
     * Returns the number of events lost because a table was full.
     *
     * @return how many since the start
     */
    public static long dropped() {
        return DROPPED.sum();
    }

    /**
     * Returns the latest error hidden from the application.
     *
     * @return the error, or null
     */
    public static Throwable lastSuppressed() {
        return last;
    }
}
