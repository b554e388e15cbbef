package io.tessera.memory.residency;

import java.util.HashMap;
import java.util.Map;

/**
 * How long a client's contended turn may be idle before it goes back, when giving it back means moving memory. Not
 * thread-safe: one owner thread.
 *
 * <p>Giving back costs a move, in which the device stands still; not giving back costs the pause. Waiting as long as the
 * move would take is never worse than twice the best (ski rental, Karlin et al. 1988). A client's behaviour after earlier releases improves
 * on that: each time its whole pause was longer than the move, the wait halves; once it was shorter, the next wait is a whole move again,
 * since a mistake costs two moves. So host phases of seconds are used by others after milliseconds, and of the short pauses that may follow
 * them one at most costs a move.
 */
public final class IdleRelease {
    private static final long NOT_AWAY = Long.MIN_VALUE;

    private static final class History {
        long waitNs;
        long releasedNs = NOT_AWAY;
    }

    private final long shortestNs;
    private final Map<Long, History> histories = new HashMap<>();

    /** With the idle time after which turns go back where nothing is moved: no wait is shorter. */
    public IdleRelease(long shortestNs) {
        if (shortestNs <= 0) {
            throw new IllegalArgumentException("shortestNs must be positive, is " + shortestNs);
        }
        this.shortestNs = shortestNs;
    }

    /**
     * The idle time after which the client's turn goes back.
     *
     * @param moveNs that bringing its memory back is expected to take; 0: nothing leaves
     */
    public long idleReleaseNs(long clientId, long moveNs) {
        if (moveNs <= shortestNs) {
            return shortestNs;
        }
        History history = histories.get(clientId);
        return history == null || history.waitNs == 0 ? moveNs : Math.clamp(history.waitNs, shortestNs, moveNs);
    }

    /** The client gave its turn back for want of work, or lost its memory in a pause; the first counts until it wants. */
    public void released(long clientId, long nowNs) {
        History history = histories.computeIfAbsent(clientId, id -> new History());
        history.releasedNs = history.releasedNs == NOT_AWAY ? nowNs : history.releasedNs;
    }

    /** The client has work again; called at every want, and only the first after a release says something. */
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

    /** The client is gone. */
    public void left(long clientId) {
        histories.remove(clientId);
    }
}
