package io.tessera.memory.residency;

import java.util.HashMap;
import java.util.Map;

/**
 * Decides how long a client's contended turn may be idle before it goes back, if giving it back means moving memory. Not thread-safe: one owner
 * thread.
 *
 * <p>Giving a turn back costs a move, in which the device is idle; keeping it costs the pause. A wait as long as the move would take costs at most
 * twice the optimum (ski rental, Karlin et al. 1988). A client's behaviour after earlier releases improves on that. Each time its whole pause was
 * longer than the move, the wait halves. Once it was shorter, the next wait is a whole move again, since a mistake costs two moves. So others can use
 * host phases of seconds after milliseconds, and of the short pauses that may follow at most one costs a move.
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
     * Records that the client gave its turn back for lack of work, or lost its memory in a pause; the first such event counts until it wants a turn.
     */
    public void released(long clientId, long nowNs) {
        History history = histories.computeIfAbsent(clientId, id -> new History());
        history.releasedNs = history.releasedNs == NOT_AWAY ? nowNs : history.releasedNs;
    }

    /** Records that the client has work again; called at every want, of which only the first after a release is significant. */
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
