package io.tessera.manager.executors;

import io.tessera.os.Activity;

/**
 * Whether an executor that gives no sign of life will give one. One that was stopped, or that nothing keeps from running and
 * that does not run, will not: it is given up after a second. One that has had no processor lives, and is waited for. One
 * owner thread.
 */
final class HangDetection {
    /** Executors give a sign of life four times a second. */
    static final long SILENT_NS = 1_000_000_000L;
    /** Silence of an executor that is merely late: clients wait as long (RELAY.md, section 3). */
    static final long LATE_NS = 30_000_000_000L;
    /** Processor time without a sign of life: longer than any collection of garbage. */
    static final long MOST_TICKS = 1_000;
    private static final long LOOK_NS = 500_000_000L;

    private long heardNs;
    private long lookedNs;
    /** Processor time when it was last heard of, or first looked at since; -1: not looked at. */
    private long ticksThen = -1;
    /** Since when nothing of it ran or could; {@link Long#MAX_VALUE}: it could. */
    private long asleepNs = Long.MAX_VALUE;
    private long ticksAsleep;

    /** What is seen of a process; null if it is gone. */
    @FunctionalInterface
    interface Look {
        /** The activity of the process that is meant, now. */
        Activity now();
    }

    /** It has said something, or there was nobody to hear it. */
    void heard(long nowNs) {
        heardNs = nowNs;
        ticksThen = -1;
        asleepNs = Long.MAX_VALUE;
    }

    /** When to look next. */
    long nextLookNs() {
        return Math.max(heardNs, lookedNs) + LOOK_NS;
    }

    /**
     * Judges it.
     *
     * @return null: it will go on; else why it will not
     */
    String verdict(Look look, long nowNs) {
        if (nextLookNs() > nowNs) {
            return null;
        }
        lookedNs = nowNs;
        Activity seen = look.now();
        if (seen == null) {
            return null; // its end is on its way to us
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
