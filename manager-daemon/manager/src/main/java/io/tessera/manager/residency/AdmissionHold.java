package io.tessera.manager.residency;

import io.tessera.memory.residency.MoveRates;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Lets a client that comes back to a freely shared device wait for a short time if the running clients leave it no room. Turns for all would
 * interrupt cells of notebooks and phases of trainings that are about to end anyway, and would cost a move out and a move back. So the newcomer waits
 * for the time of these moves (ski rental, as in {@code IdleRelease}) and of one more. The additional move is the length that a pause needs to count
 * as one while nothing is known of the client. A client that pauses meanwhile counts as idle earlier than usual, and makes room. One owner thread.
 */
final class AdmissionHold {
    /** Interval of checks for clients that pause, while a newcomer waits. */
    static final long LOOK_NS = 10_000_000L;

    /** A client that another thread or process serves between two launches may be idle for as long as this. */
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
     * @param free      whether all clients run freely; asked if a client comes
     * @param looked    whether submissions were read at this very moment
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
