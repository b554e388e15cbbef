package io.tessera.manager.schedule.turn;

import java.util.OptionalLong;

/** Turns that went from one client to another, and how long that took. Not thread-safe. */
public final class Handovers {
    private final HandoverTimes times = new HandoverTimes();
    private OptionalLong former = OptionalLong.empty();
    private long fromNs = ClientTurn.NEVER;
    private long count;

    /** A client's turn is over, while somebody waits or not. */
    void ended(long clientId, boolean somebodyWaits, long nowNs) {
        former = OptionalLong.of(clientId);
        fromNs = somebodyWaits ? nowNs : ClientTurn.NEVER;
    }

    /** The next grant comes from nobody. */
    void forget() {
        former = OptionalLong.empty();
        fromNs = ClientTurn.NEVER;
    }

    /** Returns whether somebody else had the turn before. */
    boolean granted(long clientId) {
        boolean changed = former.isPresent() && former.getAsLong() != clientId;
        if (changed) {
            count++;
        } else {
            fromNs = ClientTurn.NEVER;
        }
        return changed;
    }

    /** The grant was answered. */
    void answered(ClientTurn client, long nowNs) {
        if (fromNs != ClientTurn.NEVER) {
            times.add(nowNs - fromNs);
            client.handoverTimes.add(nowNs - fromNs);
            fromNs = ClientTurn.NEVER;
        }
    }

    /** How many there have been. */
    public long count() {
        return count;
    }

    /** The median of the last ones, in nanoseconds; 0 where there was none. */
    public long medianNs() {
        return times.medianNs();
    }
}
