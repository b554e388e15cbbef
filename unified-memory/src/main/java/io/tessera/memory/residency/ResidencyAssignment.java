package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.List;

/**
 * Computes the final distribution of a device's memory from the present one, so that as little as possible moves. Used once; not thread-safe.
 *
 * <p>A client's need is met from these sources, in this order: free memory; cached memory of the others, first of those that do not run and whose
 * turn is farthest away; contents that their owner did not use in its last turns; contents of the client whose turn is farthest away (Belady 1966: no
 * order of evictions moves less). No client goes below its guarantee.
 */
final class ResidencyAssignment {
    /** Clients, the nearest turn first. */
    private final List<ClientAllotment> seats;
    private final PlannerSettings settings;
    private final long capacityBytes;

    /** Unassigned memory; negative while more is held than there is. */
    private long freeBytes;

    ResidencyAssignment(long capacityBytes, List<ClientMemoryState> clients, PlannerSettings settings) {
        this.settings = settings;
        this.capacityBytes = capacityBytes;
        long fixedBytes = 0;
        long guaranteedBytes = 0;
        for (ClientMemoryState client : clients) {
            fixedBytes += client.fixedBytes();
            guaranteedBytes += client.movableGuaranteeBytes();
        }
        seats = new ArrayList<>(clients.size());
        freeBytes = capacityBytes - fixedBytes;
        for (ClientMemoryState client : clients) {
            long othersBytes = guaranteedBytes - client.movableGuaranteeBytes();
            ClientAllotment seat = new ClientAllotment(client, capacityBytes - fixedBytes - othersBytes);
            seats.add(seat);
            freeBytes -= seat.goalBytes();
        }
        seats.sort(ClientAllotment.NEAREST_FIRST);
    }

    List<ClientAllotment> seats() {
        return seats;
    }

    long freeBytes() {
        return freeBytes;
    }

    /** Returns whether everything that active clients need can be resident at once. */
    boolean fits() {
        long roomBytes = capacityBytes;
        for (ClientAllotment seat : seats) {
            roomBytes -= seat.client.fixedBytes();
            // A client that can never run delays no other: its demand is 0.
            roomBytes -= seat.active() ? seat.demandBytes
                    : Math.min(seat.client.contentBytes(), seat.client.movableGuaranteeBytes());
        }
        return roomBytes >= 0;
    }

    /** Takes memory from the farthest clients if more is held than there is, for example because plain memory grew. */
    void reclaim() {
        if (freeBytes < 0) {
            freeBytes += takeCached(-freeBytes, null, false);
        }
        if (freeBytes < 0) {
            freeBytes += takeUnneeded(-freeBytes, null);
        }
        if (freeBytes < 0) {
            freeBytes += takeContents(-freeBytes, -1, seats.size());
        }
    }

    /** Meets the needs of running clients, the first one's first. */
    void serveRunning() {
        for (int i = 0; i < seats.size() && seats.get(i).client.running(); i++) {
            ClientAllotment seat = seats.get(i);
            supplyFree(seat, freeBytes);
            seat.give(takeCached(missing(seat), seat, false));
            seat.give(takeUnneeded(missing(seat), seat));
            seat.give(takeContents(missing(seat), i, seats.size()));
        }
    }

    /**
     * Brings in what waiting clients need, ahead of their turns, as far as that adds no copies to those of the hand-over. The sources are free memory,
     * cached memory of clients that do not run, and memory of clients that ask for no turn, which the hand-over would choose as well.
     */
    void prefetch() {
        boolean somebodyRuns = !seats.isEmpty() && seats.getFirst().client.running();
        long growthBytes = somebodyRuns ? capacityBytes / settings.growthDivisor() : 0;
        // Later needs of running clients can be met from idle clients as well as from free memory.
        long idleBytes = seats.stream().filter(seat -> !seat.active()).mapToLong(ClientAllotment::spareBytes).sum();
        long keptFreeBytes = Math.clamp(growthBytes - idleBytes, 0L, Math.max(0, freeBytes));
        idleBytes -= growthBytes - keptFreeBytes;
        // This memory is available at the hand-over without a copy: it is used before contents of idle clients leave.
        long laterBytes = keptFreeBytes + seats.stream().filter(seat -> seat.client.running())
                .mapToLong(ClientAllotment::spareCachedBytes).sum();
        for (ClientAllotment seat : seats) {
            long deficitBytes = missing(seat);
            if (!seat.client.awaitsTurn() || deficitBytes == 0) {
                continue;
            }
            long fromFree = Math.clamp(freeBytes - keptFreeBytes, 0L, deficitBytes);
            freeBytes -= fromFree;
            long fromCached = takeCached(deficitBytes - fromFree, seat, true);
            long rest = deficitBytes - fromFree - fromCached;
            long later = Math.min(rest, laterBytes);
            laterBytes -= later;
            long fromIdle = takeIdle(Math.clamp(idleBytes, 0L, rest - later));
            idleBytes -= fromIdle;
            long got = fromFree + fromCached + fromIdle;
            seat.give(got);
            boolean nothingLeft = freeBytes <= keptFreeBytes && idleBytes <= 0;
            if (nothingLeft && got < deficitBytes && seat.spareCachedBytes() == 0) {
                return;
            }
        }
    }

    /** Lets running clients allocate from the rest without asking first. */
    void shareFree() {
        List<ClientAllotment> running = seats.stream().filter(seat -> seat.client.running() && !seat.impossible())
                .toList();
        if (running.isEmpty() || freeBytes <= 0) {
            return;
        }
        long shareBytes = freeBytes / running.size();
        if (shareBytes >= settings.grainBytes()) {
            shareBytes -= shareBytes % settings.grainBytes();
        }
        long setBytes = 0;
        boolean balanced = running.size() > 1;
        for (ClientAllotment seat : running) {
            long slackBytes = Math.max(0, seat.client.targetBytes() - seat.goalBytes());
            setBytes += slackBytes;
            balanced &= slackBytes >= shareBytes / 2;
        }
        // Present shares are kept if they are balanced; otherwise every allocation would change the targets of all clients.
        boolean keep = balanced && setBytes <= freeBytes;
        for (ClientAllotment seat : running) {
            long slackBytes = keep ? Math.max(0, seat.client.targetBytes() - seat.goalBytes())
                    : running.size() == 1 ? freeBytes : shareBytes;
            seat.give(slackBytes);
            freeBytes -= slackBytes;
        }
    }

    private static long missing(ClientAllotment seat) {
        return Math.max(0, seat.demandBytes - seat.goalBytes());
    }

    private void supplyFree(ClientAllotment seat, long availableBytes) {
        long bytes = Math.clamp(availableBytes, 0L, missing(seat));
        freeBytes -= bytes;
        seat.give(bytes);
    }

    /** Takes cached memory from all clients but {@code taker}: running clients last, or not at all. */
    private long takeCached(long bytes, ClientAllotment taker, boolean spareRunning) {
        long taken = 0;
        for (int i = seats.size() - 1; i >= 0 && taken < bytes; i--) {
            ClientAllotment seat = seats.get(i);
            if (seat != taker && !(spareRunning && seat.client.running())) {
                taken += seat.takeCached(bytes - taken);
            }
        }
        return taken;
    }

    /** Takes contents that their owners did not use recently; running clients keep theirs. */
    private long takeUnneeded(long bytes, ClientAllotment taker) {
        long taken = 0;
        for (int i = seats.size() - 1; i >= 0 && taken < bytes; i--) {
            ClientAllotment seat = seats.get(i);
            if (seat != taker && !seat.client.running()) {
                taken += seat.takeContents(bytes - taken, seat.client.neededBytes());
            }
        }
        return taken;
    }

    /** Takes contents of the clients after the seat {@code first}, the farthest first. */
    private long takeContents(long bytes, int first, int end) {
        long taken = 0;
        for (int i = end - 1; i > first && taken < bytes; i--) {
            taken += seats.get(i).takeContents(bytes - taken, 0);
        }
        return taken;
    }

    /** Takes contents of clients that ask for no turn. */
    private long takeIdle(long bytes) {
        long taken = 0;
        for (int i = seats.size() - 1; i >= 0 && taken < bytes; i--) {
            ClientAllotment seat = seats.get(i);
            if (!seat.active()) {
                taken += seat.takeContents(bytes - taken, 0);
            }
        }
        return taken;
    }
}
