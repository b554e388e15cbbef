package io.tessera.manager.admission;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Clients that a manager before this one had and that have not registered again: each keeps its place, so that nobody who comes meanwhile has more clients
 * there than there may be. A place is kept until its client is back or its process is gone, and for {@link #KEPT_NS} at most. One owner thread.
 */
public final class AwaitedClients {
    /** They ask every half second, so all are back within a second, on a busy machine within three. */
    static final long KEPT_NS = 5_000_000_000L;

    /**
     * A client of the manager before.
     *
     * @param pid        its process
     * @param startTicks start of the process as in {@link AdmissionWish}
     * @param owner      whose it is
     */
    public record Former(int pid, long startTicks, AdmissionRoom.Owner owner) {
    }

    private final Map<Integer, Former> former = new HashMap<>();
    private final AdmissionRoom room;
    private final long untilNs;
    private long nextLookNs = Long.MIN_VALUE;
    private long changes;

    /**
     * From now on.
     *
     * @param clients those of the manager before
     * @param room    knows which processes are there
     */
    public AwaitedClients(Collection<Former> clients, AdmissionRoom room, long nowNs) {
        clients.forEach(client -> former.put(client.pid(), client));
        this.room = room;
        this.untilNs = nowNs + KEPT_NS;
    }

    /** A process says HELLO; returns whether it was awaited. Its place is free for it from here on. */
    boolean back(int pid) {
        boolean awaited = former.remove(pid) != null;
        changes += awaited ? 1 : 0;
        return awaited;
    }

    /** Forgets clients that are gone; looks at processes once in {@link AdmissionQueue#LOOK_NS}. */
    public void look(long nowNs) {
        int before = former.size();
        if (nowNs >= untilNs) {
            former.clear();
        }
        if (!former.isEmpty() && nowNs >= nextLookNs) {
            nextLookNs = nowNs + AdmissionQueue.LOOK_NS;
            former.values().removeIf(client -> room.startTicks(client.pid()) != client.startTicks());
        }
        changes += before - former.size();
    }

    /** When {@link #look} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    public long nextDeadlineNs() {
        return former.isEmpty() ? Long.MAX_VALUE : Math.min(untilNs, nextLookNs);
    }

    /** The clients that are awaited now. */
    public Collection<Former> all() {
        return former.values();
    }

    /** Number of the latest change of {@link #all}. */
    public long changes() {
        return changes;
    }
}
