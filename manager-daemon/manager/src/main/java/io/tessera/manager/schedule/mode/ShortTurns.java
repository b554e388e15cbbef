package io.tessera.manager.schedule.mode;

/**
 * What short turns of a trial cost that turns of the length that was set do not: a hand-over takes as long whatever the turn's length, so a client's
 * rate in short turns is less than its rate in long ones. Immutable; nanoseconds.
 *
 * @param handoverNs how long a hand-over takes
 * @param shortNs    length of the turns in which rates were measured
 * @param longNs     length of the turns for which they are to hold
 */
record ShortTurns(double handoverNs, double shortNs, double longNs) {
    /** Rates hold as they were measured. */
    static final ShortTurns NONE = new ShortTurns(0, 1, 1);

    /**
     * What a turn costs beyond its hand-over, because the device's queues fill again. Measured on an H200: 0.66 ms (SCHEDULING.md). Half of it is
     * counted: with too much, turns would be taken where they gain nothing, and latency is worse in turns.
     */
    private static final double REFILL_NS = 330_000;

    /** A client whose turns are shorter than this part of a turn gives them back by itself, and would also give back longer ones. */
    private static final double WHOLE = 0.8;

    /**
     * By how much a client's rate is larger in long turns.
     *
     * @param turnNs mean length of the client's own turns
     */
    double gain(double turnNs) {
        double costNs = handoverNs + REFILL_NS;
        return longNs <= shortNs || turnNs < WHOLE * shortNs ? 1 : (1 + costNs / shortNs) / (1 + costNs / longNs);
    }
}
