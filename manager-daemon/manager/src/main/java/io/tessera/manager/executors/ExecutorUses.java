package io.tessera.manager.executors;

import io.tessera.manager.admission.CandidateDevice;
import io.tessera.manager.admission.SpaceDevices;
import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The devices of executors and what programs use of them, as last reported. Sees every change of {@link Executors}; one owner thread. */
public final class ExecutorUses {
    private final List<ExecutorSlot> slots;

    ExecutorUses(List<ExecutorSlot> slots) {
        this.slots = slots;
    }

    /** Returns whether no executor is starting. */
    boolean isSettled() {
        return slots.stream().noneMatch(slot -> slot.state == ExecutorSlot.State.STARTING || slot.state == ExecutorSlot.State.RESTARTING);
    }

    /** Returns the devices that programs see now. */
    SpaceDevices devices() {
        List<ExecutorSlot> ready = slots.stream().filter(slot -> slot.state == ExecutorSlot.State.READY && slot.totalBytes() > 0).toList();
        String reason = ready.isEmpty() && !slots.isEmpty() ? slots.getFirst().reason : "";
        return new SpaceDevices(isSettled(), !ready.isEmpty() && ready.stream().allMatch(ExecutorSlot::software),
                ready.stream().map(slot -> new CandidateDevice(slot.uuid(), slot.totalBytes())).toList(), reason);
    }

    /** Returns what programs in space sharing use of a device. */
    public ExecutorUse use(DeviceUuid device) {
        return slots.stream().filter(slot -> slot.running != null && slot.uuid().equals(device)).findFirst().map(ExecutorSlot::use)
                .orElse(ExecutorUse.NONE);
    }

    /** Returns the devices of executors that run. */
    public Set<DeviceUuid> used() {
        return slots.stream().filter(slot -> slot.state == ExecutorSlot.State.READY).map(ExecutorSlot::uuid).collect(Collectors.toSet());
    }

    /** Returns whether an executor has a client of a process, as last reported. */
    public boolean serves(int pid) {
        return slots.stream().anyMatch(slot -> slot.has(pid));
    }

    /** Returns whether an executor has opened a device. */
    public boolean knows(DeviceUuid device) {
        return slots.stream().anyMatch(slot -> slot.state == ExecutorSlot.State.READY && slot.uuid().equals(device));
    }

    /** Returns what executors hold of a device, as last reported; 0 if none runs. */
    public long memoryBytes(DeviceUuid device) {
        return slots.stream().filter(slot -> slot.uuid().equals(device)).mapToLong(ExecutorSlot::memoryBytes).sum();
    }
}
