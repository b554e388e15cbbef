package io.tessera.os;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Peers on a socket that have not said yet who they are, and so may be told to go: by user, the oldest first. A user who opens too many
 * connections ends its own ones, never those of another user who has fewer. One owner thread.
 *
 * @param <P> a peer
 */
public final class PeerBounds<P> {
    private final int mostOfUser;
    private final int most;
    private final Map<Integer, Set<P>> byUser = new HashMap<>();
    private int size;

    /**
     * Nobody yet.
     *
     * @param mostOfUser peers of one user at a time
     * @param most       peers of all users at a time
     */
    public PeerBounds(int mostOfUser, int most) {
        this.mostOfUser = mostOfUser;
        this.most = most;
    }

    /**
     * A peer has come.
     *
     * @return the peer that has to go for it, which is still in here until it leaves; null: none
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

    /** The oldest peer of the user who has the most; null: there is none. */
    public P oldestOfGreediest() {
        Set<P> largest = Set.of();
        for (Set<P> peers : byUser.values()) {
            largest = peers.size() > largest.size() ? peers : largest;
        }
        return largest.isEmpty() ? null : largest.iterator().next();
    }

    /** The oldest peer of a user; null: there is none. */
    public P oldest(int uid) {
        Set<P> his = byUser.get(uid);
        return his == null ? null : his.iterator().next();
    }

    /** A peer is gone, or has said who it is; one that is not here is ignored. */
    public void leave(P peer, int uid) {
        Set<P> his = byUser.get(uid);
        if (his != null && his.remove(peer)) {
            size--;
            if (his.isEmpty()) {
                byUser.remove(uid);
            }
        }
    }

    /** How many there are of all users. */
    public int size() {
        return size;
    }
}
