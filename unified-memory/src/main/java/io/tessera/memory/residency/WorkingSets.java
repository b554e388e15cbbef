package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What each client used of its memory in its last turns, and in which order. Not thread-safe: one owner thread.
 *
 * <p>Denning's working set (1968) with turns in the place of time: an allocation belongs to it if it was made or used
 * within the last {@code turns} turns. New allocations count as used, and a client of which nothing is known needs all
 * it has. An allocation of which nobody says that it is used leaves the set only if its client says of others that they
 * are: where uses are not reported at all, the set is everything.
 */
public final class WorkingSets {
    /** Used, but never reported in which order. */
    private static final long NO_POSITION = Long.MAX_VALUE;

    /** One allocation. */
    private static final class Extent {
        final long id;
        final long bytes;
        final long age;
        long lastTurn;

        /** Position of its first use in the last turn that used it. */
        long position = NO_POSITION;

        Extent(long id, long bytes, long age, long turn) {
            this.id = id;
            this.bytes = bytes;
            this.age = age;
            this.lastTurn = turn;
        }
    }

    private static final class Client {
        final Map<Long, Extent> extents = new LinkedHashMap<>();
        long turn;
        long uses;
        long ages;
        boolean reports;
        boolean reportsNow;
    }

    private final int turns;
    private final Map<Long, Client> clients = new HashMap<>();

    /** With the number of turns, the present one included, that memory stays in the set without being used. */
    public WorkingSets(int turns) {
        if (turns < 1) {
            throw new IllegalArgumentException("turns must be positive, is " + turns);
        }
        this.turns = turns;
    }

    private Client client(long clientId) {
        return clients.computeIfAbsent(clientId, id -> new Client());
    }

    /**
     * The client has a new allocation.
     *
     * @throws IllegalArgumentException if {@code bytes} is negative, or it has one of that id
     */
    public void allocated(long clientId, long allocationId, long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes is negative: " + bytes);
        }
        Client client = client(clientId);
        Extent extent = new Extent(allocationId, bytes, client.ages++, client.turn);
        if (client.extents.putIfAbsent(allocationId, extent) != null) {
            throw new IllegalArgumentException("client " + clientId + " has an allocation " + allocationId + " already");
        }
    }

    /** The allocation is gone; unknown ones are no error. */
    public void freed(long clientId, long allocationId) {
        client(clientId).extents.remove(allocationId);
    }

    /** A submission of the present turn uses the allocation; unknown ones are no error: it may have been freed. */
    public void used(long clientId, long allocationId) {
        Client client = client(clientId);
        client.reportsNow = true;
        Extent extent = client.extents.get(allocationId);
        if (extent == null) {
            return;
        }
        if (extent.lastTurn != client.turn || extent.position == NO_POSITION) {
            extent.position = client.uses;
        }
        extent.lastTurn = client.turn;
        client.uses++;
    }

    /** The client's turn is over. A turn without any use says nothing about what the next one needs. */
    public void turnEnded(long clientId) {
        Client client = client(clientId);
        if (client.reportsNow) {
            client.reports = true;
            client.reportsNow = false;
            client.turn++;
            client.uses = 0;
        }
    }

    /** The client is gone. */
    public void left(long clientId) {
        clients.remove(clientId);
    }

    /** Bytes of the working set: what is to be resident before the client's next turn. */
    public long bytes(long clientId) {
        Client client = client(clientId);
        return client.extents.values().stream().filter(extent -> belongs(client, extent))
                .mapToLong(extent -> extent.bytes).sum();
    }

    private boolean belongs(Client client, Extent extent) {
        return !client.reports || client.turn - extent.lastTurn <= turns;
    }

    /**
     * The working set in the order in which the next turn is expected to use it: as the last turn that used each did,
     * the most recent turn's first; what was never reported used by age, the oldest first.
     */
    public List<Long> inOrderOfUse(long clientId) {
        Client client = client(clientId);
        return sorted(client, true, Comparator.<Extent>comparingLong(extent -> -extent.lastTurn)
                .thenComparingLong(extent -> extent.position).thenComparingLong(extent -> extent.age));
    }

    /** Everything else, to be moved out first: what was used longest ago first. */
    public List<Long> idle(long clientId) {
        Client client = client(clientId);
        return sorted(client, false, Comparator.<Extent>comparingLong(extent -> extent.lastTurn)
                .thenComparingLong(extent -> extent.age));
    }

    private List<Long> sorted(Client client, boolean belonging, Comparator<Extent> order) {
        List<Extent> extents = new ArrayList<>(client.extents.values());
        extents.removeIf(extent -> belongs(client, extent) != belonging);
        extents.sort(order);
        return extents.stream().map(extent -> extent.id).toList();
    }
}
