package io.tessera.executor.session;

import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.os.PeerCredentials;
import io.tessera.protocol.message.RelayToken;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * The clients that the manager has announced. A token is valid for one connection of the announced process, for 120 s (RELAY.md, section
 * 1). Thread-safe.
 */
public final class Admission {
    /** Time for which an announcement is valid. */
    static final long HOLDS_NS = 120_000_000_000L;
    /** Maximum number of announcements; more are a defect of the manager, and the oldest ones expire. */
    private static final int MOST = 100_000;

    private final Map<RelayToken, Announced> announced = new HashMap<>();

    /**
     * A client that may come.
     *
     * @param clientId   the manager's number for it
     * @param pid        its process
     * @param uid        its user
     * @param tenant     its tenant, to which the limit belongs
     * @param limitBytes the tenant's limit on this device; 0: none
     * @param fences     how it is fenced
     */
    public record Client(long clientId, int pid, int uid, String tenant, long limitBytes, FenceSettings fences) {
    }

    private record Announced(Client client, long untilNs) {
    }

    /** Announces a client, for the manager. */
    public synchronized void announce(RelayToken token, Client client, long nowNs) {
        forgetOld(nowNs);
        if (announced.size() < MOST) {
            announced.put(token, new Announced(client, nowNs + HOLDS_NS));
        }
    }

    /** Returns whether an announced client has not come, and still may. */
    public synchronized boolean isExpecting(long nowNs) {
        forgetOld(nowNs);
        return !announced.isEmpty();
    }

    private void forgetOld(long nowNs) {
        for (Iterator<Announced> i = announced.values().iterator(); i.hasNext();) {
            if (i.next().untilNs - nowNs < 0) {
                i.remove();
            }
        }
    }

    /**
     * Checks a token that a peer presents, and uses it up if the peer is the announced one.
     *
     * @return the client; null if no client, or another one, was announced with this token
     */
    public synchronized Client take(RelayToken token, PeerCredentials peer, long nowNs) {
        forgetOld(nowNs);
        Announced known = announced.get(token);
        if (known == null || known.client.pid != peer.pid() || known.client.uid != peer.uid()) {
            return null;
        }
        announced.remove(token);
        return known.client;
    }
}
