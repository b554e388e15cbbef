package io.tessera.manager.schedule.turn;

import java.util.OptionalLong;

/** Turns that went from one client to another, and their times. Not thread-safe. */
public final class Handovers {
    private final HandoverTimes times = new HandoverTimes();
    private OptionalLong former = OptionalLong.empty();
    private long fromNs = ClientTurn.NEVER;
    private long count;

    /** Records the end of a client's turn, and whether another client waits. */
    void ended(long clientId, boolean somebodyWaits, long nowNs) {
        former = OptionalLong.of(clientId);
        fromNs = somebodyWaits ? nowNs : ClientTurn.NEVER;
    }

    /** Makes the next grant count as one without a former holder. */
    void forget() {
        former = OptionalLong.empty();
        fromNs = ClientTurn.NEVER;
    }

    /** Records a grant; returns whether another client had the turn before. */
    boolean granted(long clientId) {
        boolean changed = former.isPresent() && former.getAsLong() != clientId;
        if (changed) {
            count++;
        } else {
            fromNs = ClientTurn.NEVER;
        }
        return changed;
    }

    /** Records the answer to the grant. */
    void answered(ClientTurn client, long nowNs) {
        if (fromNs != ClientTurn.NEVER) {
            times.add(nowNs - fromNs);
            client.handoverTimes.add(nowNs - fromNs);
            fromNs = ClientTurn.NEVER;
        }
    }

    /** Returns the number of hand-overs so far. */
    public long count() {
        return count;
    }

    /** Returns the median of the latest ones, in nanoseconds; 0 if there was none. */
    public long medianNs() {
        return times.medianNs();
    }
}
