package io.tessera.agent.boot;

import java.util.concurrent.atomic.LongAdder;

/** What the agent counts about itself. Any thread; nothing here throws. */
public final class AgentCounters {
    private static final LongAdder SUPPRESSED = new LongAdder();
    private static final LongAdder DROPPED = new LongAdder();
    private static volatile Throwable last;

    private AgentCounters() {
    }

    /**
     * Keeps an error of the agent's own code from the application (AGENT_SUPPRESSED).
     *
     * @param failure the error
     */
    public static void suppressed(Throwable failure) {
        SUPPRESSED.increment();
        last = failure;
    }

    /** Counts an event that found its table full. */
    static void drop() {
        DROPPED.increment();
    }

    /**
     * Errors kept from the application.
     *
     * @return how many since the start
     */
    public static long suppressed() {
        return SUPPRESSED.sum();
    }

    /**
     * Events that found a table full.
     *
     * @return how many since the start
     */
    public static long dropped() {
        return DROPPED.sum();
    }

    /**
     * The latest error kept from the application.
     *
     * @return it, or null
     */
    public static Throwable lastSuppressed() {
        return last;
    }
}
