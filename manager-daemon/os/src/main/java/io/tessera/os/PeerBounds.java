package io.tessera.os;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Peers on a socket that have not identified themselves yet, and so may be disconnected: by user, the oldest first. A user who opens too many
 * connections ends its own ones, never those of another user with fewer. One owner thread.
 *
 * @param <P> type of a peer
 */
public final class PeerBounds<P> {
    private final int mostOfUser;
    private final int most;
    private final Map<Integer, Set<P>> byUser = new HashMap<>();
    private int size;

    /**
     * Creates an object without peers.
     *
     * @param mostOfUser maximum number of peers of one user at a time
     * @param most       maximum number of peers of all users at a time
     */
    public PeerBounds(int mostOfUser, int most) {
        this.mostOfUser = mostOfUser;
        this.most = most;
    }

    /**
     * Adds a peer.
     *
     * @return the peer that has to leave in exchange, which stays in here until it leaves; null: none
     */
    public P enter(P peer, int uid) {
        Set<P> his = byUser.computeIfAbsent(uid, _ -> new LinkedHashSet<>());
        if (his.add(peer)) {
            size++;
        }
        if (his.size() > mostOfUser) {
            return his.iterator().next();
        }
        return size > most ? oldestOfGreediest() : null;
    }

    /** Returns the oldest peer of the user who has the most; null: there is none. */
    public P oldestOfGreediest() {
        Set<P> largest = Set.of();
        for (Set<P> peers : byUser.values()) {
            largest = peers.size() > largest.size() ? peers : largest;
        }
        return largest.isEmpty() ? null : largest.iterator().next();
    }

    /** Returns the oldest peer of a user; null: there is none. */
    public P oldest(int uid) {
        Set<P> his = byUser.get(uid);
        return his == null ? null : his.iterator().next();
    }

    /** Removes a peer that is gone or has identified itself; an unknown one is ignored. */
    public void leave(P peer, int uid) {
        Set<P> his = byUser.get(uid);
        if (his != null && his.remove(peer)) {
            size--;
            if (his.isEmpty()) {
                byUser.remove(uid);
            }
        }
    }

    /** Returns the number of peers of all users. */
    public int size() {
        return size;
    }
}
