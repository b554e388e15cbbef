package io.tessera.manager.admission;

import io.tessera.manager.placement.PlacementChoice;

/** One program in the queue: it waits, then a place is kept for it, then it has started. One owner thread. */
final class AdmissionEntry {
    final AdmissionWish wish;
    final long sinceNs;
    /** Whether this manager can see the process; otherwise only a time limit shows that it is gone. */
    final boolean visible;
    long heardNs;
    /** Why it waits; empty once a place is kept for it. */
    String reason = "waits";
    boolean granted;
    /** Whether the program was told that it may start. */
    boolean told;
    /** Time until which its place is kept. */
    long keptUntilNs = Long.MAX_VALUE;
    /** The device that it got; null if it waits or did not leave the choice to the manager. */
    PlacementChoice choice;
    /** The client that it has become; 0: none yet. */
    long clientId;

    AdmissionEntry(AdmissionWish wish, boolean visible, long nowNs) {
        this.wish = wish;
        this.visible = visible;
        this.sinceNs = nowNs;
        this.heardNs = nowNs;
    }

    /** Returns whether a place is kept for a program that has not registered. */
    boolean keepsPlace() {
        return granted && clientId == 0;
    }
}
