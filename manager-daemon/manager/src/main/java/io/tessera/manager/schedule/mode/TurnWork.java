package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.turn.ClientTurn;

/**
 * Work of one client in turns, and the time for which turns keep it from working. Not thread-safe.
 *
 * <p>A client is blocked while it waits at its gate and has nothing on the device. All other time is its own: holding the device, draining, or
 * working on the host. Submissions divided by own time is the rate that it would have with the device to itself. Own time divided by wall time is the
 * share that turns leave of that.
 */
final class TurnWork {
    /** Submissions per nanosecond of own time, one sample from each grant to the next time it is blocked. */
    final RateMeter rate = new RateMeter();

    private boolean waiting;
    private boolean inTurn;
    private long grantNs;
    private long submissionsAtGrant;
    private boolean sampleOpen;
    private long submittedInTurn;
    private long heldNs;
    private long turns;
    private long blockedSinceNs = ClientTurn.NEVER;

    /** Blocked time of the present window and of the one before. */
    private long blockedNs;
    private long blockedBeforeNs;
    private double ownShare = 1;

    void waiting(boolean waits, long nowNs) {
        waiting = waits;
        if (waits && !inTurn) {
            block(nowNs);
        } else if (!waits) {
            unblock(nowNs);
        }
    }

    void granted(long submissions, long nowNs) {
        closeSample(nowNs);
        unblock(nowNs);
        inTurn = true;
        grantNs = nowNs;
        submissionsAtGrant = submissions;
    }

    void drained(long submissions, long nowNs) {
        if (!inTurn) {
            return;
        }
        inTurn = false;
        heldNs += nowNs - grantNs;
        turns++;
        submittedInTurn = submissions - submissionsAtGrant;
        sampleOpen = true;
        if (waiting) {
            block(nowNs);
        }
    }

    private void block(long nowNs) {
        closeSample(nowNs);
        if (blockedSinceNs == ClientTurn.NEVER) {
            blockedSinceNs = nowNs;
        }
    }

    private void unblock(long nowNs) {
        if (blockedSinceNs != ClientTurn.NEVER) {
            blockedNs += nowNs - blockedSinceNs;
            blockedSinceNs = ClientTurn.NEVER;
        }
    }

    /** Ends a sample that would last until the client is blocked again; does nothing if there is none. */
    void closeSample(long nowNs) {
        if (sampleOpen) {
            rate.add(submittedInTurn, nowNs - grantNs);
            sampleOpen = false;
        }
    }

    /** Forgets everything except the present wait. */
    void restart(long nowNs) {
        rate.clear();
        heldNs = 0;
        turns = 0;
        inTurn = false;
        sampleOpen = false;
        restartWindows(nowNs);
    }

    void restartWindows(long nowNs) {
        rotate(nowNs);
        blockedBeforeNs = 0;
    }

    /** Begins a new window; the former one still counts, the one before it no longer. */
    void rotate(long nowNs) {
        if (blockedSinceNs != ClientTurn.NEVER) {
            blockedNs += nowNs - blockedSinceNs;
            blockedSinceNs = nowNs;
        }
        blockedBeforeNs = blockedNs;
        blockedNs = 0;
    }

    /** Calculates the share of own time over both windows, which lasted {@code wallNs}. */
    void measure(long wallNs, long nowNs) {
        if (wallNs > 0) {
            long openNs = blockedSinceNs == ClientTurn.NEVER ? 0 : nowNs - blockedSinceNs;
            ownShare = 1 - Math.min(1, (double) (blockedBeforeNs + blockedNs + openNs) / wallNs);
        }
    }

    /** Returns the mean time from a grant to the end of the drain; 0 before the first turn has ended. */
    double meanHeldNs() {
        return turns == 0 ? 0 : (double) heldNs / turns;
    }

    /** Returns the last result of {@link #measure}; 1 before. */
    double ownShare() {
        return ownShare;
    }

    /** Returns whether the client runs, waits, or has run. */
    boolean hasDemand() {
        return waiting || inTurn || rate.size() > 0;
    }
}
