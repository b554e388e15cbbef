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
        if (client.neededBytes() > possibleBytes) {
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

    boolean refused() {
        return client.neededBytes() > possibleBytes || client.wantedBytes() > possibleBytes;
    }

    long goalBytes() {
        return goalBytes;
    }

    void give(long bytes) {
        goalBytes += bytes;
    }

    /** Gives up cached memory; returns how much. */
    long takeCached(long bytes) {
        long taken = Math.min(bytes, droppableBytes);
        droppableBytes -= taken;
        goalBytes -= taken;
        return taken;
    }

    /** Gives up contents down to the guarantee and down to {@code keepBytes} of them; returns how much. */
    long takeContents(long bytes, long keepBytes) {
        long floorBytes = Math.max(keepBytes, client.movableGuaranteeBytes()) + droppableBytes;
        long taken = Math.clamp(goalBytes - floorBytes, 0L, bytes);
        goalBytes -= taken;
        return taken;
    }

    /** Whether contents have to leave although the client runs or may run. */
    boolean mustStop() {
        return !client.quiet() && goalBytes < client.contentBytes();
    }
}
