package io.tessera.memory.residency;

import java.util.HashMap;
import java.util.Map;

/**
 * Decides how long a client's turn may be idle, while others wait, before it is given back, if that means moving memory. Not thread-safe: one owner
 * thread.
 *
 * <p>Giving a turn back costs a move, in which the device is idle; keeping it costs the pause. A wait as long as the move would take costs at most
 * twice the optimum (ski rental, Karlin et al. 1988). The client's earlier pauses improve on that. Each time its whole pause was longer than the
 * move, the wait halves. After a pause that was shorter, the next wait is a whole move again, since a mistake costs two moves. So others get the
 * device a few milliseconds into a host phase of seconds, and at most one of the short pauses that may follow costs a move.
 */
public final class IdleRelease {
    private static final long NOT_AWAY = Long.MIN_VALUE;

    private static final class History {
        long waitNs;
        long releasedNs = NOT_AWAY;
    }

    private final long shortestNs;
    private final Map<Long, History> histories = new HashMap<>();

    /** Creates an object with the idle time after which turns go back if nothing is moved: no wait is shorter. */
    public IdleRelease(long shortestNs) {
        if (shortestNs <= 0) {
            throw new IllegalArgumentException("shortestNs must be positive, is " + shortestNs);
        }
        this.shortestNs = shortestNs;
    }

    /**
     * Returns the idle time after which the client's turn goes back.
     *
     * @param moveNs expected time to bring its memory back; 0: nothing leaves
     */
    public long idleReleaseNs(long clientId, long moveNs) {
        if (moveNs <= shortestNs) {
            return shortestNs;
        }
        History history = histories.get(clientId);
        return history == null || history.waitNs == 0 ? moveNs : Math.clamp(history.waitNs, shortestNs, moveNs);
    }

    /**
     * Records that the client gave its turn back for lack of work, or lost its memory in a pause. Until it wants a turn, only the first such event counts.
     */
    public void released(long clientId, long nowNs) {
        History history = histories.computeIfAbsent(clientId, id -> new History());
        history.releasedNs = history.releasedNs == NOT_AWAY ? nowNs : history.releasedNs;
    }

    /** Records that the client has work again. May be called at every request for a turn; only the first one after a release counts. */
    public void wanted(long clientId, long moveNs, long nowNs) {
        History history = histories.get(clientId);
        if (history == null || history.releasedNs == NOT_AWAY) {
            return;
        }
        long awayNs = nowNs - history.releasedNs;
        history.releasedNs = NOT_AWAY;
        long waitNs = idleReleaseNs(clientId, moveNs);
        history.waitNs = waitNs + awayNs >= moveNs ? Math.max(shortestNs, waitNs / 2) : moveNs;
    }

    /** Forgets a client that is gone. */
    public void left(long clientId) {
        histories.remove(clientId);
    }
}
