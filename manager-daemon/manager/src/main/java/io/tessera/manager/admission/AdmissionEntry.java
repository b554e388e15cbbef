package io.tessera.manager.admission;

import io.tessera.manager.placement.PlacementChoice;

/** One program in the queue: it waits, then a place is kept for it, then it has started. One owner thread. */
final class AdmissionEntry {
    final AdmissionWish wish;
    final long sinceNs;
    /** Whether this manager sees its process; else only time tells that it is gone. */
    final boolean visible;
    long heardNs;
    /** Why it waits; empty: a place is kept for it. */
    String reason = "waits";
    boolean granted;
    /** Whether it was told that it may start. */
    boolean told;
    /** Until when its place is kept. */
    long keptUntilNs = Long.MAX_VALUE;
    /** The device that it got; null: it waits, or has left none to the manager. */
    PlacementChoice choice;
    /** The client that it has become; 0: none yet. */
    long clientId;

    AdmissionEntry(AdmissionWish wish, boolean visible, long nowNs) {
        this.wish = wish;
        this.visible = visible;
        this.sinceNs = nowNs;
        this.heardNs = nowNs;
    }

    /** Whether a place is kept for a program that has not registered. */
    boolean keepsPlace() {
        return granted && clientId == 0;
    }
}
