package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a device's memory shall be in the end: starts from where it is and moves the least. Used once; not
 * thread-safe.
 *
 * <p>A client's need is met, in this order, from free memory; from cached memory of the others, first of those that do not run and whose
 * turn is farthest away; from contents that their owner did not use in its last turns; from the contents of the client whose turn is
 * farthest away (Belady 1966: no order of evictions moves less). Never from below a guarantee.
 */
final class ResidencyAssignment {
    /** Nearest first. */
    private final List<ClientAllotment> seats;
    private final PlannerSettings settings;
    private final long capacityBytes;

    /** Not assigned; below 0 while more is held than there is. */
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

    /** Whether everything that active clients need can be resident at once. */
    boolean fits() {
        long roomBytes = capacityBytes;
        for (ClientAllotment seat : seats) {
            roomBytes -= seat.client.fixedBytes();
            // A client that can never run holds up nobody: its demand is 0.
            roomBytes -= seat.active() ? seat.demandBytes
                    : Math.min(seat.client.contentBytes(), seat.client.movableGuaranteeBytes());
        }
        return roomBytes >= 0;
    }

    /** More is held than there is, for example because plain memory grew: takes it from the farthest. */
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

    /** Meets what running clients need, the first one's first. */
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
     * Brings in ahead of their turns what awaiting clients need, as far as that costs no copy which the hand-over would not cost: into free
     * memory, into cached memory of clients that do not run, and in the place of clients that ask for no turn, which the hand-over would
     * choose as well.
     */
    void prefetch() {
        boolean somebodyRuns = !seats.isEmpty() && seats.getFirst().client.running();
        long growthBytes = somebodyRuns ? capacityBytes / settings.growthDivisor() : 0;
        // Later needs of running clients can be met from idle clients as well as from free memory.
        long idleBytes = seats.stream().filter(seat -> !seat.active()).mapToLong(ClientAllotment::spareBytes).sum();
        long keptFreeBytes = Math.clamp(growthBytes - idleBytes, 0L, Math.max(0, freeBytes));
        idleBytes -= growthBytes - keptFreeBytes;
        // At the hand-over this is there without a copy: it has to do before contents of idle clients leave.
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

    /** Lets running clients allocate from what is left without asking first. */
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
        // Shares that are good enough stay: every allocation would change everybody's target otherwise.
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

    /** From everybody but {@code taker}, running clients last, or not at all. */
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

    /** Contents that their owners did not use lately; running clients keep theirs. */
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

    /** Contents of the clients behind the seat {@code first}, the farthest first. */
    private long takeContents(long bytes, int first, int end) {
        long taken = 0;
        for (int i = end - 1; i > first && taken < bytes; i--) {
            taken += seats.get(i).takeContents(bytes - taken, 0);
        }
        return taken;
    }

    /** Contents of clients that ask for no turn. */
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
