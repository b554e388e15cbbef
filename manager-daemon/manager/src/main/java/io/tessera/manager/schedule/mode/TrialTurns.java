package io.tessera.manager.schedule.mode;

/**
 * How long the turns of a trial are. They begin short, because a client that pauses between short bursts waits for every turn of the
 * others. As long as all clients use their turns up, the turns of the next round are twice as long, up to those that say most. So a client
 * that pauses waits for turns of at most twice its bursts. Not thread-safe.
 */
final class TrialTurns {
    /** With 5 ms of queued work nobody waits longer than 10 ms for another's first turn; a hand-over is then up to a tenth of it. */
    private static final long SHORT_NS = 5_000_000L;

    private long lengthNs;

    /** A trial begins. */
    void begin() {
        lengthNs = SHORT_NS;
    }

    /** Length of the turns now, of which the longest are {@code longestNs}. */
    long lengthNs(long longestNs) {
        return Math.min(lengthNs, longestNs);
    }

    /** A turn may be over: if all clients have used theirs up, turns get longer, and what was measured in shorter ones no longer counts. */
    void lengthen(Measurements measured, long longestNs, long nowNs) {
        double heldNs = measured.shortestHeldNs();
        if (lengthNs < longestNs && ShortTurns.isWhole(heldNs, lengthNs)) {
            lengthNs = 2 * Math.max(lengthNs, (long) heldNs);
            measured.restartTurns(nowNs);
        }
    }
}
