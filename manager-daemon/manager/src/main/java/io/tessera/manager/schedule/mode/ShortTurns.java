package io.tessera.manager.schedule.mode;

/**
 * Converts what clients got done in the short turns of a trial into what they would get done in long ones. Two things differ: a hand-over takes the
 * same time in turns of any length, and a client that gives its turns back early waits for long turns of the others. Immutable; nanoseconds.
 *
 * @param handoverNs time that a hand-over takes
 * @param shortNs    length of the turns in which clients were measured
 * @param longNs     length of the turns to which the result applies
 */
record ShortTurns(double handoverNs, double shortNs, double longNs) {
    /** No conversion: turns were measured at their own length. */
    static final ShortTurns NONE = new ShortTurns(0, 1, 1);

    /**
     * Cost of a turn beyond its hand-over, because the device's queues fill again. Measured on an H200: 0.66 ms (SCHEDULING.md). Half of it is
     * counted: with too large a value, turns would be taken where they gain nothing, and latency is worse in turns.
     */
    private static final double REFILL_NS = 330_000;

    /** A client that holds the device for less than this share of a turn gives it back by itself, and would also give back longer turns. */
    private static final double WHOLE = 0.8;

    /** Returns whether measurements have to be converted. */
    boolean converts() {
        return longNs > shortNs;
    }

    private boolean isWhole(double heldNs) {
        return isWhole(heldNs, shortNs);
    }

    /** Returns whether a client that holds the device for this long in turns of a length uses them up. */
    static boolean isWhole(double heldNs, double turnNs) {
        return heldNs >= WHOLE * turnNs;
    }

    /** Returns how long a client holds the device in a long turn, from the time in a short one; the hand-over is included. */
    double turnNs(double heldNs) {
        return (isWhole(heldNs) ? longNs : heldNs) + handoverNs;
    }

    /** Returns how long a client is not blocked in each round of long turns: its turn, and its work on the host afterwards. */
    double ownNs(double heldNs, double ownNs) {
        return isWhole(heldNs) ? longNs + Math.max(0, ownNs - heldNs) : ownNs;
    }

    /** Returns the factor by which a client's rate is larger in long turns. */
    double gain(double heldNs) {
        double costNs = handoverNs + REFILL_NS;
        return !converts() || !isWhole(heldNs) ? 1 : (1 + costNs / shortNs) / (1 + costNs / longNs);
    }
}
