package io.tessera.memory.residency;

import java.util.Comparator;

/** One client while a plan is made: the memory that it will hold in the end, and the part of it that others may take. One owner thread. */
final class ClientAllotment {
    /** Order by the need for memory: the first client needs its memory first; the last one's memory is given away first. */
    static final Comparator<ClientAllotment> NEAREST_FIRST = ClientAllotment::nearer;

    final ClientMemoryState client;

    /** The most that it can have resident: the capacity less memory that is fixed or guaranteed to others. */
    final long possibleBytes;

    /** Its need, including a waiting allocation if that can be met; 0 if its need can never be met. */
    final long demandBytes;

    /** How far it is from running. 0: it runs; 1: it awaits a turn; 2: it asks for none; 3: it is parked. */
    private final int distance;

    /** Resident memory in the end: contents and cached memory together. */
    private long goalBytes;

    /** The part of {@link #goalBytes} that has no contents. */
    private long droppableBytes;

    ClientAllotment(ClientMemoryState client, long possibleBytes) {
        this.client = client;
        this.possibleBytes = possibleBytes;
        this.distance = distance(client);
        if (impossible()) {
            demandBytes = 0;
        } else {
            boolean grows = client.wantedBytes() <= possibleBytes;
            demandBytes = Math.max(client.neededBytes(), grows ? client.wantedBytes() : 0);
        }
        boolean leaves = leaves();
        goalBytes = leaves ? 0 : client.residentBytes();
        droppableBytes = leaves ? 0 : client.cachedBytes();
    }

    private boolean leaves() {
        return client.parked() && !client.running();
    }

    private static int nearer(ClientAllotment one, ClientAllotment other) {
        int order = Integer.compare(one.distance, other.distance);
        if (order == 0) {
            order = Long.compare(one.client.nextTurnNs(), other.client.nextTurnNs());
        }
        if (order == 0) {
            order = Long.compare(other.client.lastTurnEndedNs(), one.client.lastTurnEndedNs());
        }
        return order != 0 ? order : Long.compare(one.client.clientId(), other.client.clientId());
    }

    private static int distance(ClientMemoryState client) {
        if (client.running()) {
            return 0;
        }
        if (client.parked()) {
            return 3;
        }
        return client.nextTurnNs() == ClientMemoryState.UNKNOWN ? 2 : 1;
    }

    /** Returns whether it runs, or asks to run. */
    boolean active() {
        return client.running() || client.awaitsTurn();
    }

    /** Returns whether its need can never be resident, so that it cannot run. */
    boolean impossible() {
        return client.neededBytes() > possibleBytes;
    }

    /** Returns whether its need, or that of its waiting allocation, can never be resident. */
    boolean refused() {
        return impossible() || client.wantedBytes() > possibleBytes;
    }

    long goalBytes() {
        return goalBytes;
    }

    void give(long bytes) {
        goalBytes += bytes;
    }

    /** Returns the cached memory that it may give up: an active client keeps what it will fill. */
    long spareCachedBytes() {
        return active() ? Math.clamp(goalBytes - demandBytes, 0L, droppableBytes) : droppableBytes;
    }

    /** Gives up cached memory; returns the amount. */
    long takeCached(long bytes) {
        long taken = Math.min(bytes, spareCachedBytes());
        droppableBytes -= taken;
        goalBytes -= taken;
        return taken;
    }

    /** Returns everything that it may give up. */
    long spareBytes() {
        return Math.max(0, goalBytes - client.movableGuaranteeBytes());
    }

    /** Gives up memory, cached first, down to the guarantee and to {@code keepBytes}; returns the amount. */
    long takeContents(long bytes, long keepBytes) {
        long floorBytes = Math.max(keepBytes, client.movableGuaranteeBytes());
        long taken = Math.clamp(goalBytes - floorBytes, 0L, bytes);
        droppableBytes = Math.max(0, droppableBytes - taken);
        goalBytes -= taken;
        return taken;
    }

    /** Returns whether contents have to leave although the client runs or may run. */
    boolean mustStop() {
        return !client.quiet() && goalBytes < client.contentBytes();
    }
}
