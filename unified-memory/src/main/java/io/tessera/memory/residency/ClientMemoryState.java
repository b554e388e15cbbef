package io.tessera.memory.residency;

import java.util.Objects;

/**
 * One client's memory on one device, as its words say now, and what the scheduler knows of its turns. Immutable.
 *
 * <p>Sizes in bytes. {@code residentBytes}, {@code targetBytes}, {@code neededBytes}, {@code cachedBytes} and
 * {@code wantedBytes} are about the memory that can be moved; {@code fixedBytes} come on top. Memory of plan
 * {@code plain}, which nobody can move, is given as {@code fixedBytes} alone.
 *
 * @param clientId of the client
 * @param tenant          whose; for sentences
 * @param residentBytes   held on the device now, without {@code fixedBytes}, copies in flight and cached memory included
 * @param targetBytes     what the client may hold at present: the target last written
 * @param neededBytes     has to be resident before the client may run; plan managed: all it has
 * @param cachedBytes     part of {@code residentBytes} that has no contents, so that it can be dropped at any time
 * @param fixedBytes      resident for ever: exported, imported, arrays, memory of plan plain
 * @param wantedBytes     an allocation waits until the client may hold this much; 0: none waits
 * @param guaranteeBytes  of resident and fixed memory together, that never has to leave; 0: nothing
 * @param quiet           told to stop and drained: its contents may be moved out now
 * @param parked          evicted by hand or for idleness: holds nothing until it is restored, its guarantee included
 * @param nextTurnNs      when its next turn is expected; {@link #UNKNOWN}: it asks for none. Among running clients the
 *                        earlier comes first
 * @param lastTurnEndedNs when it last ceased to run; {@link Long#MIN_VALUE}: never ran. The client that asks for no turn and is idle for
 *         longest gives its memory first
 * @param running         its turn has been granted, or it runs freely: needs all its memory now
 */
public record ClientMemoryState(long clientId, String tenant, long residentBytes, long targetBytes, long neededBytes,
        long cachedBytes, long fixedBytes, long wantedBytes, long guaranteeBytes, boolean quiet, boolean parked,
        long nextTurnNs, long lastTurnEndedNs, boolean running) {

    /** The next turn of a client that asks for none. */
    public static final long UNKNOWN = Long.MAX_VALUE;

    /**
     * Checks the sizes. Words of a client can be anything, so the caller clamps what it reads; this only finds errors
     * of the caller.
     *
     * @throws IllegalArgumentException if one is negative, or more is cached than resident
     */
    public ClientMemoryState {
        Objects.requireNonNull(tenant, "tenant");
        size("residentBytes", residentBytes);
        size("targetBytes", targetBytes);
        size("neededBytes", neededBytes);
        size("cachedBytes", cachedBytes);
        size("fixedBytes", fixedBytes);
        size("wantedBytes", wantedBytes);
        size("guaranteeBytes", guaranteeBytes);
        if (cachedBytes > residentBytes) {
            throw new IllegalArgumentException(
                    "cachedBytes " + cachedBytes + " exceed residentBytes " + residentBytes);
        }
    }

    private static void size(String name, long bytes) {
        if (bytes < 0 || bytes > MAX_BYTES) {
            throw new IllegalArgumentException(name + " must be from 0 to " + MAX_BYTES + ", is " + bytes);
        }
    }

    /** Upper bound of every size, 2^56: sums over all clients stay far from overflow. */
    public static final long MAX_BYTES = 1L << 56;

    /** Resident bytes with contents, which have to be copied out before they can be taken away. */
    public long contentBytes() {
        return residentBytes - cachedBytes;
    }

    /** What the budget has to reckon with: held now, or possibly held in a moment. */
    public long occupiedBytes() {
        return Math.max(targetBytes, residentBytes);
    }

    /** The part of the guarantee that fixed memory does not use up. */
    public long movableGuaranteeBytes() {
        return Math.max(0, guaranteeBytes - fixedBytes);
    }

    /** Whether it asks for a turn that it has not got. */
    public boolean awaitsTurn() {
        return !running && !parked && nextTurnNs != UNKNOWN;
    }
}
