package io.tessera.manager.executors;

import io.tessera.os.Activity;

/**
 * Decides whether a silent executor will give another sign of life. An executor that a signal has stopped, or that does not run although nothing
 * keeps it from running, will not: it is given up after a second. An executor that has had no processor time is alive, and the manager waits for it.
 * One owner thread.
 */
final class HangDetection {
    /** Silence after which an executor is examined; it gives a sign of life four times a second. */
    static final long SILENT_NS = 1_000_000_000L;
    /** Longest silence of an executor that is merely late: clients wait as long (RELAY.md, section 3). */
    static final long LATE_NS = 30_000_000_000L;
    /** Processor time without a sign of life, in ticks: longer than any garbage collection. */
    static final long MOST_TICKS = 1_000;
    private static final long LOOK_NS = 500_000_000L;

    private long heardNs;
    private long lookedNs;
    /** Processor time at the last sign of life, or when first examined after it; -1: not examined. */
    private long ticksThen = -1;
    /** Time since which none of its threads ran or could run; {@link Long#MAX_VALUE}: one could. */
    private long asleepNs = Long.MAX_VALUE;
    private long ticksAsleep;

    /** Examines a process; returns null if it is gone. */
    @FunctionalInterface
    interface Look {
        /** Returns the present activity of the process. */
        Activity now();
    }

    /** Records a sign of life, or that the manager could not have received one. */
    void heard(long nowNs) {
        heardNs = nowNs;
        ticksThen = -1;
        asleepNs = Long.MAX_VALUE;
    }

    /** Returns the time of the next examination. */
    long nextLookNs() {
        return Math.max(heardNs, lookedNs) + LOOK_NS;
    }

    /**
     * Judges whether the executor will continue.
     *
     * @return null if it will continue, else why it will not
     */
    String verdict(Look look, long nowNs) {
        if (nextLookNs() > nowNs) {
            return null;
        }
        lookedNs = nowNs;
        Activity seen = look.now();
        if (seen == null) {
            return null; // the notice of its end is still to come
        }
        ticksThen = ticksThen < 0 ? seen.ticks() : ticksThen;
        boolean asleep = !seen.runnable() && !seen.stopped();
        if (!asleep || seen.ticks() != ticksAsleep) {
            asleepNs = asleep ? nowNs : Long.MAX_VALUE;
            ticksAsleep = seen.ticks();
        }
        boolean silent = nowNs - heardNs >= SILENT_NS;
        if (silent && seen.stopped()) {
            return "it was stopped by a signal";
        }
        if (silent && asleepNs != Long.MAX_VALUE && nowNs - asleepNs >= SILENT_NS) {
            return "it is frozen: none of its threads runs";
        }
        if (seen.ticks() - ticksThen >= MOST_TICKS) {
            return "it gave no sign of life in 10 s of processor time";
        }
        return nowNs - heardNs >= LATE_NS ? "it gave no sign of life for 30 s" : null;
    }
}
