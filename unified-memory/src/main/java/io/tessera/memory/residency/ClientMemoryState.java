package io.tessera.memory.residency;

import java.util.Objects;

/**
 * One client's memory on one device, as its words say now, and its turns as far as the scheduler knows. Immutable.
 *
 * <p>Sizes in bytes. {@code residentBytes}, {@code targetBytes}, {@code neededBytes}, {@code cachedBytes} and {@code wantedBytes} describe the memory
 * that can be moved; {@code fixedBytes} are additional. Memory of plan {@code plain}, which cannot be moved, counts as {@code fixedBytes} alone.
 *
 * @param clientId        the client
 * @param tenant          its tenant, for messages
 * @param residentBytes   memory on the device now, without {@code fixedBytes}, with copies in flight and cached memory
 * @param targetBytes     memory that the client may hold at present: the target last written
 * @param neededBytes     memory that has to be resident before the client may run; plan managed: all its memory
 * @param cachedBytes     part of {@code residentBytes} that has no contents, so that it can be dropped at any time
 * @param fixedBytes      memory that is always resident: exported, imported, arrays, memory of plan plain
 * @param wantedBytes     memory that the client must be allowed before a waiting allocation continues; 0: none waits
 * @param guaranteeBytes  part of resident and fixed memory together that never has to leave; 0: nothing
 * @param quiet           it was told to stop and has drained: its contents may be moved out now
 * @param parked          it was evicted by hand or for idleness: it holds nothing until it is restored, not even its guarantee
 * @param nextTurnNs      expected time of its next turn; {@link #UNKNOWN}: it asks for none. Among running clients the earlier time comes first
 * @param lastTurnEndedNs time at which it last ceased to run; {@link Long#MIN_VALUE}: it never ran. Of the clients that ask for no turn, the one that
 *   has been idle longest gives its memory first
 * @param running         its turn has been granted, or it runs freely: it needs all its memory now
 */
public record ClientMemoryState(long clientId, String tenant, long residentBytes, long targetBytes, long neededBytes,
        long cachedBytes, long fixedBytes, long wantedBytes, long guaranteeBytes, boolean quiet, boolean parked,
        long nextTurnNs, long lastTurnEndedNs, boolean running) {

    /** Time of the next turn of a client that asks for none. */
    public static final long UNKNOWN = Long.MAX_VALUE;

    /**
     * Checks the sizes. Words of a client can be anything, so the caller clamps what it reads; this check only finds errors of the caller.
     *
     * @throws IllegalArgumentException if a size is negative, or more is cached than resident
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

    /** Returns the resident bytes with contents, which have to be copied out before they can be taken away. */
    public long contentBytes() {
        return residentBytes - cachedBytes;
    }

    /** Returns what counts against the budget: memory held now, or possibly held a moment later. */
    public long occupiedBytes() {
        return Math.max(targetBytes, residentBytes);
    }

    /** Returns the part of the guarantee that fixed memory does not use up. */
    public long movableGuaranteeBytes() {
        return Math.max(0, guaranteeBytes - fixedBytes);
    }

    /** Returns whether it asks for a turn that it does not have. */
    public boolean awaitsTurn() {
        return !running && !parked && nextTurnNs != UNKNOWN;
    }
}
