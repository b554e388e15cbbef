package io.tessera.manager.schedule.mode;

/**
 * What clients would get done in long turns, from what they got done in the short ones of a trial. Two things differ: a hand-over takes as
 * long whatever the turn's length, and a client that gives its turns back early waits for long turns of the others. Immutable; nanoseconds.
 *
 * @param handoverNs how long a hand-over takes
 * @param shortNs    length of the turns in which clients were measured
 * @param longNs     length of the turns for which it is to hold
 */
record ShortTurns(double handoverNs, double shortNs, double longNs) {
    /** Turns are measured in turns of their own length. */
    static final ShortTurns NONE = new ShortTurns(0, 1, 1);

    /**
     * What a turn costs beyond its hand-over, because the device's queues fill again. Measured on an H200: 0.66 ms (SCHEDULING.md). Half of it is
     * counted: with too much, turns would be taken where they gain nothing, and latency is worse in turns.
     */
    private static final double REFILL_NS = 330_000;

    /** A client that holds the device for less than this part of a turn gives it back by itself, and would also give back longer turns. */
    private static final double WHOLE = 0.8;

    /** Whether what was measured has to be converted. */
    boolean converts() {
        return longNs > shortNs;
    }

    private boolean isWhole(double heldNs) {
        return isWhole(heldNs, shortNs);
    }

    /** Whether a client that holds the device for this long in turns of a length uses them up. */
    static boolean isWhole(double heldNs, double turnNs) {
        return heldNs >= WHOLE * turnNs;
    }

    /** How long a client holds the device in a long turn, from how long it does in a short one; with the hand-over. */
    double turnNs(double heldNs) {
        return (isWhole(heldNs) ? longNs : heldNs) + handoverNs;
    }

    /** How long a client is not blocked in each round of long turns: its turn, and its work on the host afterwards. */
    double ownNs(double heldNs, double ownNs) {
        return isWhole(heldNs) ? longNs + Math.max(0, ownNs - heldNs) : ownNs;
    }

    /** By how much a client's rate is larger in long turns. */
    double gain(double heldNs) {
        double costNs = handoverNs + REFILL_NS;
        return !converts() || !isWhole(heldNs) ? 1 : (1 + costNs / shortNs) / (1 + costNs / longNs);
    }
}
