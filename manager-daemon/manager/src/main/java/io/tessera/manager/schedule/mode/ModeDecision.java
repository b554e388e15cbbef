package io.tessera.manager.schedule.mode;

import java.util.Set;

/**
 * The outcome of a comparison of both modes, for the status and for clients that pause and come back. Immutable.
 *
 * @param clients clients that were compared
 * @param wished  whether memory wished for turns
 * @param turns   whether turns do more
 * @param score   work done in both modes
 * @param atNs    time of the decision
 */
record ModeDecision(Set<Long> clients, boolean wished, boolean turns, ModeScore score, long atNs) {
    /** Returns why there are turns. */
    String turnsReason(long nowNs) {
        return "turns: " + score.turnsAgainstFree() + " running freely, measured " + age(nowNs);
    }

    /** Returns why there are none. */
    String freeReason(long nowNs) {
        return score.known() ? "running freely: " + score.freeAgainstTurns() + " in turns, measured " + age(nowNs)
                : "running freely: clients did not finish turns on trial, tried " + age(nowNs);
    }

    private String age(long nowNs) {
        return Math.max(0, nowNs - atNs) / 1_000_000_000L + " s ago";
    }
}
