package io.tessera.manager.residency;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.memory.residency.IdleRelease;
import io.tessera.memory.residency.MoveRates;
import io.tessera.memory.residency.Pressure;
import io.tessera.memory.residency.PressureDetector;
import io.tessera.memory.residency.PressureSample;
import io.tessera.memory.residency.QuantumChooser;
import io.tessera.protocol.MemoryPlan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Derives from a device's memory what its schedule needs to know: whether clients have to take turns, how long turns should be given the cost of moves,
 * and how long an idle turn is kept. One owner thread.
 */
final class MemoryPressure {
    /** Time without work after which a turn is given back, if others wait and nothing is moved: the schedule's own rule. */
    private static final long SHORTEST_IDLE_NS = 1_000_000L;

    /** Longest time that an operator would accept, not a technical bound (QuantumChooser). */
    private static final long LONGEST_QUANTUM_NS = 30_000_000_000L;

    private final PressureDetector detector = new PressureDetector();
    private final QuantumChooser chooser;
    private final IdleRelease idle = new IdleRelease(SHORTEST_IDLE_NS);
    private final Map<Long, Long> idleTold = new HashMap<>();
    private final Set<Long> wanting = new HashSet<>();
    private MemoryVerdict verdict = MemoryVerdict.UNPLANNED;

    MemoryPressure(ResidencySettings settings) {
        this.chooser = new QuantumChooser(settings.moveShare(), LONGEST_QUANTUM_NS);
    }

    MemoryVerdict verdict() {
        return verdict;
    }

    /** Forgets clients that are gone. */
    void left(Set<Long> present) {
        for (long clientId : List.copyOf(idleTold.keySet())) {
            if (!present.contains(clientId)) {
                idleTold.remove(clientId);
                idle.left(clientId);
            }
        }
        wanting.retainAll(present);
    }

    int nothingPlanned(DeviceScheduling scheduling, long nowNs) {
        return say(scheduling, MemoryVerdict.UNPLANNED, nowNs);
    }

    private int say(DeviceScheduling scheduling, MemoryVerdict next, long nowNs) {
        if (next.equals(verdict)) {
            return 0;
        }
        verdict = next;
        scheduling.memory(next, nowNs);
        return 1;
    }

    /** Judges the device, and passes changes to the schedule. */
    int judge(ResidencyView device, MoveRates rates, long nowNs) {
        DeviceScheduling scheduling = device.device().scheduling();
        PressureSample sample = sample(device, nowNs);
        Pressure found = detector.observe(sample, nowNs);
        List<QuantumChooser.Participant> participants = participants(device, nowNs);
        boolean allSwap = device.members().stream()
                .noneMatch(member -> member.plan == MemoryPlan.MANAGED || member.overflowBytes > 0);
        MoveRates used = allSwap ? rates : MoveRates.faulted();
        QuantumChooser.Handover handover = QuantumChooser.handover(
                Math.max(0, sample.capacityBytes() - sample.fixedBytes()), participants);
        double moveNs = used.handoverNs(handover.changedBytes(), handover.copiedBytes());
        long quantumNs = found.turns() && handover.changedBytes() > 0 ? chooser.stretchedNs(0, moveNs) : 0;
        boolean must = found.kind() == Pressure.Kind.SHORT && sample.neededBytes() > 0;
        int said = say(scheduling, new MemoryVerdict(true, found.turns(), must, quantumNs, found.reason()), nowNs);
        learnIdleness(device, (long) moveNs, rates, nowNs);
        return said;
    }

    /** Decides how long an idle turn is kept: about as long as the memory that would leave takes to come back. */
    private void learnIdleness(ResidencyView device, long moveNs, MoveRates rates, long nowNs) {
        for (ClientDeviceMemory member : device.members()) {
            if (!member.planned()) {
                continue;
            }
            long clientId = member.clientId();
            if (member.takeReleased()) {
                idle.released(clientId, nowNs);
            }
            if (!member.waits()) {
                wanting.remove(clientId);
            } else if (wanting.add(clientId)) {
                boolean free = moveNs == 0; // then only the client's own memory has left
                idle.wanted(clientId, free ? (long) rates.handoverNs(member.neededBytes, member.contentBytes()) : moveNs, nowNs);
            }
            long ns = moveNs == 0 ? 0 : idle.idleReleaseNs(clientId, moveNs);
            if (idleTold.getOrDefault(clientId, 0L) != ns) {
                idleTold.put(clientId, ns);
                device.device().scheduling().idleRelease(clientId, ns);
            }
        }
    }

    /** Returns how long the client may pause before its memory should serve a waiting client. */
    long idleReleaseNs(ClientDeviceMemory member, long moveNs) {
        return idle.idleReleaseNs(member.clientId(), moveNs);
    }

    /** Records that a client that ran freely and paused lost its memory to another client. */
    void evicted(ClientDeviceMemory member, long nowNs) {
        idle.released(member.clientId(), nowNs);
    }

    /**
     * Returns a sample. An idle client counts with the memory that stays: its resident guarantee, or all its contents if it cannot give them up.
     */
    private static PressureSample sample(ResidencyView device, long nowNs) {
        long fixed = device.executorBytes();
        long needed = 0;
        long managed = 0;
        for (ClientDeviceMemory member : device.members()) {
            boolean active = member.activeAt(nowNs) && !member.evicted && !member.heldBack && member.shortOf.isEmpty();
            fixed += member.fixedBytes;
            if (member.plan == MemoryPlan.MANAGED) {
                managed += active ? member.neededBytes : 0;
            } else if (member.movable()) {
                long kept = Math.min(member.residentBytes - member.cachedBytes,
                        Math.max(0, member.guaranteeBytes - member.fixedBytes));
                needed += active ? Math.max(member.neededBytes, member.wantedBytes) : 0;
                managed += active ? member.overflowBytes : 0;
                long stays = member.stuckAt(nowNs) ? member.residentBytes - member.cachedBytes : Math.max(0, member.evicted ? 0 : kept);
                fixed += active ? 0 : stays;
            }
        }
        return new PressureSample(device.plannedBytes(), fixed, needed, managed);
    }

    private static List<QuantumChooser.Participant> participants(ResidencyView device, long nowNs) {
        List<QuantumChooser.Participant> participants = new ArrayList<>();
        for (ClientDeviceMemory member : device.members()) {
            if (member.planned() && member.activeAt(nowNs) && !member.heldBack && member.shortOf.isEmpty()) {
                participants.add(new QuantumChooser.Participant(member.neededBytes + member.overflowBytes,
                        Math.max(0, member.guaranteeBytes - member.fixedBytes), member.contentBytes() + member.overflowBytes));
            }
        }
        return participants;
    }
}
