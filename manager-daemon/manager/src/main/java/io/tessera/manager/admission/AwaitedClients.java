package io.tessera.manager.admission;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Clients of the former manager that have not registered again. Each keeps its place, so that programs that come meanwhile cannot exceed the number
 * of clients. A place is kept until its client is back or its process is gone, and at most for {@link #KEPT_NS}. One owner thread.
 */
public final class AwaitedClients {
    /** Clients try twice a second, so all are back within a second, or within three on a busy machine. */
    static final long KEPT_NS = 5_000_000_000L;

    /**
     * A client of the former manager.
     *
     * @param pid        process
     * @param startTicks start of the process, as in {@link AdmissionWish}
     * @param owner      user and tenant to which its place belongs
     */
    public record Former(int pid, long startTicks, AdmissionRoom.Owner owner) {
    }

    private final Map<Integer, Former> former = new HashMap<>();
    private final AdmissionRoom room;
    private final long untilNs;
    private long nextLookNs = Long.MIN_VALUE;
    private long changes;

    /**
     * Creates the list; places are kept from now on.
     *
     * @param clients clients of the former manager
     * @param room    tells which processes exist
     */
    public AwaitedClients(Collection<Former> clients, AdmissionRoom room, long nowNs) {
        clients.forEach(client -> former.put(client.pid(), client));
        this.room = room;
        this.untilNs = nowNs + KEPT_NS;
    }

    /** Records that a process has sent HELLO; returns whether it was awaited. Its kept place is then free for it. */
    boolean back(int pid) {
        boolean awaited = former.remove(pid) != null;
        changes += awaited ? 1 : 0;
        return awaited;
    }

    /** Forgets clients that are gone; checks processes once in {@link AdmissionQueue#LOOK_NS}. */
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

    /** Returns the time at which {@link #look} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    public long nextDeadlineNs() {
        return former.isEmpty() ? Long.MAX_VALUE : Math.min(untilNs, nextLookNs);
    }

    /** Returns the clients that are awaited now. */
    public Collection<Former> all() {
        return former.values();
    }

    /** Returns the number of the latest change of {@link #all}. */
    public long changes() {
        return changes;
    }
}
