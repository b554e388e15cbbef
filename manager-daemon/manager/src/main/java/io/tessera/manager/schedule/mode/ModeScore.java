package io.tessera.manager.schedule.mode;

import java.util.Collection;
import java.util.Locale;

/**
 * Work done in either mode, in units of one device: the sum over clients of the rate of work, each divided by the rate that the client would have
 * with the device to itself (weighted speed-up; Snavely and Tullsen, ASPLOS 2000). That rate is measured in turns, over the time in which turns do
 * not block the client ({@link TurnWork}).
 *
 * @param turns         in turns: the share of time in which clients are not blocked, summed over clients
 * @param free          running freely
 * @param relativeError standard error of {@code free} as a share of it
 */
record ModeScore(double turns, double free, double relativeError) {

    /** Score without measurements. */
    static final ModeScore UNKNOWN = new ModeScore(0, 0, Double.POSITIVE_INFINITY);

    /** Returns whether there is anything to compare. */
    boolean known() {
        return turns > 0 && free > 0;
    }

    /**
     * Returns the score from measurements of the active clients; clients that were not measured in both modes are left out.
     *
     * @param measuredIn the turns in which rates were measured
     */
    static ModeScore of(Collection<ClientRates> clients, ShortTurns measuredIn) {
        double turns = 0;
        double free = 0;
        double variance = 0;
        double roundNs = 0;
        for (ClientRates client : clients) {
            roundNs += client.turns.rate.rate() == 0 ? 0 : measuredIn.turnNs(client.turns.meanHeldNs());
        }
        for (ClientRates client : clients) {
            double alone = client.turns.rate.rate() * measuredIn.gain(client.turns.meanHeldNs());
            if (alone == 0 || client.free.size() == 0) {
                continue;
            }
            turns += !measuredIn.converts() ? client.turns.ownShare()
                    : Math.min(1, measuredIn.ownNs(client.turns.meanHeldNs(), client.turns.rate.meanTimeNs()) / roundNs);
            double part = client.free.rate() / alone;
            free += part;
            double freeError = client.free.relativeError();
            double turnError = client.turns.rate.relativeError();
            if (part > 0) {
                variance += part * part * (freeError * freeError + turnError * turnError);
            }
        }
        return new ModeScore(turns, free,
                free == 0 ? Double.POSITIVE_INFINITY : Math.sqrt(variance) / free);
    }

    /** Returns the work of turns divided by that of free running; above 1 turns do more. */
    double ratio() {
        return turns / free;
    }

    /** Returns whether the difference is larger than the margin and than twice its standard error. */
    boolean decided(double margin) {
        return known() && Math.abs(ratio() - 1) > Math.max(margin, 2 * relativeError);
    }

    /** Returns whether turns are better by more than the margin and, if the difference is not clear of noise, by one standard error more. */
    boolean prefersTurns(double margin) {
        return known() && ratio() - 1 > (decided(margin) ? margin : margin + relativeError);
    }

    /** Returns whether free running is better, by the same rule. */
    boolean prefersFree(double margin) {
        return known() && 1 / ratio() - 1 > (decided(margin) ? margin : margin + relativeError);
    }

    /** Returns a text like "1.00 against 0.91", turns first. */
    String turnsAgainstFree() {
        return String.format(Locale.ROOT, "%.2f against %.2f", turns, free);
    }

    /** Returns a text like "0.91 against 1.00", free running first. */
    String freeAgainstTurns() {
        return String.format(Locale.ROOT, "%.2f against %.2f", free, turns);
    }
}
