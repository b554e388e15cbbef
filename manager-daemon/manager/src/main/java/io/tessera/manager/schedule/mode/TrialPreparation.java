package io.tessera.manager.schedule.mode;

/**
 * Preparation of a trial of turns, so that no client waits long for it: clients' queues are bounded for a while, because all of them have to drain
 * when turns begin. Not thread-safe.
 */
final class TrialPreparation {
    /** Work that all clients together may have queued when a trial begins: during this time no waiting client runs. */
    private static final long PACE_NS = 10_000_000L;
    private static final long LEAST_PACE_NS = 2_000_000L;

    /** Time for which that bound holds before the first trial; doubled after each trial without a turn. */
    private static final long LENGTH_NS = 500_000_000L;
    private static final long LONGEST_NS = 16_000_000_000L;

    /** A trial is called off if queues take longer than this to drain, for each client: as long as a turn of the trial. */
    private static final long LONGEST_DRAIN_NS = 100_000_000L;

    private long lengthNs = LENGTH_NS;

    /** Returns how long the preparation lasts. */
    long lengthNs() {
        return lengthNs;
    }

    /** Records that the queues did not drain: the next preparation is longer. */
    void wasTooShort() {
        lengthNs = Math.min(2 * lengthNs, LONGEST_NS);
    }

    /** Returns what each of these clients may have queued meanwhile, as time to drain. */
    static long paceNs(int clients) {
        return Math.max(LEAST_PACE_NS, PACE_NS / Math.max(1, clients));
    }

    /** Returns how long the queues of these clients may take to drain. */
    static long longestDrainNs(int clients) {
        return LONGEST_DRAIN_NS * Math.max(1, clients - 1);
    }
}
