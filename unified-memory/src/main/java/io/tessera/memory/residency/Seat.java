package io.tessera.memory.residency;

import java.util.Comparator;

/** One client while a plan is made: what it shall hold in the end, and what of that others may have. */
final class Seat {
    /** Who needs its memory first; the last one's is given away first. */
    static final Comparator<Seat> NEAREST_FIRST = Comparator.comparingInt(Seat::distance)
            .thenComparingLong(seat -> seat.client.nextTurnNs())
            .thenComparing(seat -> seat.client.lastTurnEndedNs(), Comparator.reverseOrder())
            .thenComparingLong(seat -> seat.client.clientId());

    final ClientMemory client;

    /** What it may have resident at most without touching what is fixed or guaranteed to others. */
    final long possibleBytes;

    /** Needed, and what a waiting allocation asks for where that is possible; 0: its need can never be met. */
    final long demandBytes;

    /** Resident in the end: contents and cached memory together. */
    private long goalBytes;

    /** The part of {@link #goalBytes} that has no contents. */
    private long droppableBytes;

    Seat(ClientMemory client, long possibleBytes) {
        this.client = client;
        this.possibleBytes = possibleBytes;
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

    private int distance() {
        if (client.running()) {
            return 0;
        }
        if (client.parked()) {
            return 3;
        }
        return client.nextTurnNs() == ClientMemory.UNKNOWN ? 2 : 1;
    }

    /** Whether it runs, or asks to. */
    boolean active() {
        return client.running() || client.awaitsTurn();
    }

    /** Whether what it needs can never be resident, so that it cannot run. */
    boolean impossible() {
        return client.neededBytes() > possibleBytes;
    }

    /** Whether what it needs, or what an allocation of it asks for, can never be resident. */
    boolean refused() {
        return impossible() || client.wantedBytes() > possibleBytes;
    }

    long goalBytes() {
        return goalBytes;
    }

    void give(long bytes) {
        goalBytes += bytes;
    }

    /** Gives up cached memory, but who is active keeps what it will fill; returns how much. */
    long takeCached(long bytes) {
        long spareBytes = active() ? Math.max(0, goalBytes - demandBytes) : droppableBytes;
        long taken = Math.min(bytes, Math.min(spareBytes, droppableBytes));
        droppableBytes -= taken;
        goalBytes -= taken;
        return taken;
    }

    /** Gives up memory, cached first, down to the guarantee and to {@code keepBytes}; returns how much. */
    long takeContents(long bytes, long keepBytes) {
        long floorBytes = Math.max(keepBytes, client.movableGuaranteeBytes());
        long taken = Math.clamp(goalBytes - floorBytes, 0L, bytes);
        droppableBytes = Math.max(0, droppableBytes - taken);
        goalBytes -= taken;
        return taken;
    }

    /** Whether contents have to leave although the client runs or may run. */
    boolean mustStop() {
        return !client.quiet() && goalBytes < client.contentBytes();
    }
}
