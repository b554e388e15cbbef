package io.tessera.manager.schedule.mode;

/**
 * What is done before a trial of turns, so that nobody waits long for it: clients' queues are bounded for a while, because all of them have to drain
 * when turns begin. Not thread-safe.
 */
final class TrialPreparation {
    /** The work that all clients together may have queued when a trial begins: for this time no client that asks runs. */
    private static final long PACE_NS = 10_000_000L;
    private static final long LEAST_PACE_NS = 2_000_000L;

    /** Time for which that bound holds before a trial, at first; twice as long after each trial that did not come to a turn. */
    private static final long LENGTH_NS = 500_000_000L;
    private static final long LONGEST_NS = 16_000_000_000L;

    /** A trial is called off if queues take longer than this to drain, for each client: that is as long as a turn of the trial. */
    private static final long LONGEST_DRAIN_NS = 100_000_000L;

    private long lengthNs = LENGTH_NS;

    /** How long it lasts. */
    long lengthNs() {
        return lengthNs;
    }

    /** The queues did not drain: the next one is longer. */
    void wasTooShort() {
        lengthNs = Math.min(2 * lengthNs, LONGEST_NS);
    }

    /** What each of some clients may have queued meanwhile, as time to drain. */
    static long paceNs(int clients) {
        return Math.max(LEAST_PACE_NS, PACE_NS / Math.max(1, clients));
    }

    /** How long the queues of some clients may take to drain. */
    static long longestDrainNs(int clients) {
        return LONGEST_DRAIN_NS * Math.max(1, clients - 1);
    }
}
