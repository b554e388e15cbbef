package io.tessera.manager.schedule.mode;

import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The progress of the present round of turns: whether every client that asks has had as many turns as the others. Not thread-safe.
 *
 * <p>Only a waiting client is owed a turn, so a client that stops asking delays nothing.
 */
final class TurnRound {
    private final Set<Long> served = new HashSet<>();
    private final Set<Long> waiting = new HashSet<>();
    private OptionalLong running = OptionalLong.empty();
    private long runningSinceNs;

    void waits(long clientId, boolean waits) {
        if (waits) {
            waiting.add(clientId);
        } else {
            waiting.remove(clientId);
        }
    }

    void started(long clientId, long nowNs) {
        if (!served.add(clientId)) {
            served.clear();
            served.add(clientId);
        }
        running = OptionalLong.of(clientId);
        runningSinceNs = nowNs;
    }

    void ended(long clientId) {
        if (running.isPresent() && running.getAsLong() == clientId) {
            running = OptionalLong.empty();
        }
    }

    void left(long clientId) {
        waiting.remove(clientId);
        served.remove(clientId);
        ended(clientId);
    }

    /** Starts again, because turns begin or end. */
    void restart() {
        served.clear();
        running = OptionalLong.empty();
    }

    /**
     * Returns whether a round is over now, and the next one has not begun, or began at most {@code justBegunNs} ago.
     */
    boolean over(long justBegunNs, long nowNs) {
        if (running.isPresent()) {
            return served.size() == 1 && nowNs - runningSinceNs <= justBegunNs;
        }
        return !served.isEmpty() && served.containsAll(waiting);
    }
}
