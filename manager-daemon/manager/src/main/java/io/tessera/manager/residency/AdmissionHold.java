package io.tessera.manager.residency;

import io.tessera.memory.residency.MoveRates;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Makes a client that comes back to a device with free running wait for a short time, if the running clients leave it no room. Without the wait, all
 * clients would have to take turns. That costs a move out and a move back, and interrupts notebook cells and training phases that may soon end anyway.
 * So the newcomer waits for the time of these two moves (ski rental, as in {@code IdleRelease}) and of a third one. The third is there because a pause
 * of a client of which nothing is known yet has to last as long as a move before it counts. A client that pauses meanwhile counts as idle earlier than
 * usual, and makes room. One owner thread.
 */
final class AdmissionHold {
    /** While a newcomer waits, running clients are checked for pauses at this interval. */
    static final long LOOK_NS = 10_000_000L;

    /** Shorter pauses do not count: a client may be idle for this long between two launches, while another thread or process works for it. */
    private static final long SHORTEST_IDLE_NS = 20_000_000L;

    private static final int PATIENCE_MOVES = 3;

    private final MemoryPressure pressure;
    private boolean holding;

    AdmissionHold(MemoryPressure pressure) {
        this.pressure = pressure;
    }

    /** Returns whether a client waits. */
    boolean holding() {
        return holding;
    }

    /**
     * Decides which clients wait.
     *
     * @param members   all clients on the device
     * @param roomBytes memory that they may have together
     * @param free      whether all clients run freely; only called if a client comes back
     * @param looked    whether the clients' submissions were read in this cycle
     */
    void judge(Collection<ClientDeviceMemory> members, long roomBytes, BooleanSupplier free, boolean looked,
            MoveRates rates, long nowNs) {
        List<ClientDeviceMemory> coming = new ArrayList<>();
        for (ClientDeviceMemory member : members) {
            member.heldBack = false;
            if (member.movable() && member.parked && !member.checkpointed && member.waits()) {
                member.comingSinceNs = member.comingSinceNs == ClientDeviceMemory.NEVER ? nowNs : member.comingSinceNs;
                coming.add(member);
            } else {
                member.comingSinceNs = ClientDeviceMemory.NEVER;
            }
        }
        coming.sort(Comparator.comparingLong(member -> member.comingSinceNs));
        if (looked && holding) {
            members.forEach(member -> markIdle(member, rates, nowNs));
        }
        holding = !coming.isEmpty() && free.getAsBoolean() && hold(coming, members, roomBytes, rates, nowNs);
    }

    private static boolean hold(List<ClientDeviceMemory> coming, Collection<ClientDeviceMemory> members, long roomBytes,
            MoveRates rates, long nowNs) {
        long fixedBytes = members.stream().mapToLong(member -> member.fixedBytes).sum();
        long runningBytes = members.stream().filter(member -> !member.parked && member.activeAt(nowNs))
                .mapToLong(AdmissionHold::demandBytes).sum();
        boolean any = false;
        for (ClientDeviceMemory newcomer : coming) {
            long demandBytes = demandBytes(newcomer);
            boolean couldRun = fixedBytes + demandBytes <= roomBytes;
            boolean fits = fixedBytes + runningBytes + demandBytes <= roomBytes;
            boolean patient = nowNs - newcomer.comingSinceNs < PATIENCE_MOVES * rates.moveNs(demandBytes, demandBytes);
            newcomer.heldBack = couldRun && !fits && runningBytes > 0 && patient;
            runningBytes += newcomer.heldBack ? 0 : demandBytes;
            any |= newcomer.heldBack;
        }
        return any;
    }

    private void markIdle(ClientDeviceMemory member, MoveRates rates, long nowNs) {
        double moveNs = rates.handoverNs(member.neededBytes, member.contentBytes());
        long idleNs = Math.max(SHORTEST_IDLE_NS, pressure.idleReleaseNs(member, (long) moveNs));
        if (member.movable() && !member.parked && !member.waits() && nowNs - member.lastActiveNs >= idleNs) {
            member.countAsIdle();
        }
    }

    private static long demandBytes(ClientDeviceMemory member) {
        return member.movable() ? Math.max(member.neededBytes, member.wantedBytes) : 0;
    }
}
