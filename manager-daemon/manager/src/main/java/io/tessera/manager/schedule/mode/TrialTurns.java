package io.tessera.manager.schedule.mode;

/**
 * The length of the turns of a trial. They begin short, because a client that pauses between short bursts waits for every turn of the others. As long
 * as all clients use their turns up, the turns of the next round are twice as long, up to the most informative length. So a client that pauses waits
 * for turns of at most twice its bursts. Not thread-safe.
 */
final class TrialTurns {
    /** With 5 ms of queued work no client waits longer than 10 ms for another's first turn; a hand-over is then up to a tenth of it. */
    private static final long SHORT_NS = 5_000_000L;

    private long lengthNs;

    /** Begins a trial. */
    void begin() {
        lengthNs = SHORT_NS;
    }

    /** Returns the present length of turns, of which {@code longestNs} is the maximum. */
    long lengthNs(long longestNs) {
        return Math.min(lengthNs, longestNs);
    }

    /** Handles the possible end of a turn: if all clients have used theirs up, turns get longer, and measurements in shorter ones no longer count. */
    void lengthen(Measurements measured, long longestNs, long nowNs) {
        double heldNs = measured.shortestHeldNs();
        if (lengthNs < longestNs && ShortTurns.isWhole(heldNs, lengthNs)) {
            lengthNs = 2 * Math.max(lengthNs, (long) heldNs);
            measured.restartTurns(nowNs);
        }
    }
}
