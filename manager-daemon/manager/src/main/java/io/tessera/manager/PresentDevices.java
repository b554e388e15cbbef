package io.tessera.manager;

import io.tessera.manager.admission.AdmissionRoom;
import io.tessera.manager.admission.CandidateDevice;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.executors.ExecutorUse;
import io.tessera.manager.executors.Executors;
import io.tessera.manager.placement.DeviceUse;
import io.tessera.manager.placement.GpuTimes;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.residency.Residency;
import io.tessera.manager.session.Session;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.segment.ThreadSlot;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Present use of the devices, by clients in turns and in executors together. The share of time in which they were busy is measured only while the
 * rule is {@link DevicePlacement#LEAST_LOADED}. One owner thread.
 */
final class PresentDevices implements Conductor.Timed {
    private final DeviceRegistry registry;
    private final Executors executors;
    private final Residency residency;
    private final long capacityBytes;
    private final Supplier<DevicePlacement> placement;
    private final GpuTimes times = new GpuTimes();
    private long nextLookNs;

    /**
     * Creates the view for a manager.
     *
     * @param capacityBytes capacity of each device; 0: its memory
     * @param placement     the current rule
     */
    PresentDevices(DeviceRegistry registry, Executors executors, Residency residency, long capacityBytes, Supplier<DevicePlacement> placement) {
        this.registry = registry;
        this.executors = executors;
        this.residency = residency;
        this.capacityBytes = capacityBytes;
        this.placement = placement;
    }

    /** Memory that the clients of one tenant use or may use. */
    private static final class TenantMemory {
        private long usedBytes;
        private long limitBytes;

        private long takenBytes(long capacityBytes) {
            return Math.max(usedBytes, Math.min(limitBytes, capacityBytes));
        }
    }

    DeviceUse use(CandidateDevice device, long nowNs) {
        long bytes = capacityBytes > 0 ? Math.min(capacityBytes, device.totalBytes()) : device.totalBytes();
        long capacity = residency.guarantees(Optional.of(device.uuid()), nowNs).map(AdmissionRoom.Guarantees::capacityBytes).orElse(bytes);
        Collection<DeviceClient> members = registry.device(device.uuid()).map(ManagedDevice::members).orElse(List.of());
        Map<String, TenantMemory> tenants = new HashMap<>();
        for (DeviceClient member : members) {
            TenantMemory memory = tenants.computeIfAbsent(registry.shares().nameOf(member.session()), _ -> new TenantMemory());
            member.touch(block -> {
                memory.usedBytes += Math.clamp(block.usedBytes(), 0, capacity);
                memory.limitBytes = Math.max(memory.limitBytes, block.limitBytes());
            });
        }
        ExecutorUse space = executors.uses().use(device.uuid());
        long takenBytes = space.takenBytes() + tenants.values().stream().mapToLong(memory -> memory.takenBytes(capacity)).sum();
        return new DeviceUse(device.uuid(), capacity, Math.max(0, capacity - takenBytes), members.size() + space.clients(), 0,
                times.share(device.uuid()));
    }

    /** Returns whether a client is on a device. */
    boolean has(Session session) {
        return !registry.members(session).isEmpty() || executors.uses().serves(session.peer().pid());
    }

    @Override
    public int doWork(long nowNs) {
        if (placement.get() != DevicePlacement.LEAST_LOADED || nowNs < nextLookNs) {
            return 0;
        }
        nextLookNs = nowNs + GpuTimes.LOOK_NS;
        Set<DeviceUuid> devices = new HashSet<>(executors.uses().used());
        registry.devices().forEach(device -> devices.add(device.uuid()));
        times.retain(devices);
        devices.forEach(device -> times.look(device, work(device), nowNs));
        return 0; // no caller waits for this work
    }

    private List<GpuTimes.ClientWork> work(DeviceUuid uuid) {
        List<GpuTimes.ClientWork> work = new ArrayList<>();
        for (GpuTimes.ClientWork inSpace : executors.uses().use(uuid).work()) {
            work.add(inSpace);
        }
        registry.device(uuid).map(ManagedDevice::members).orElse(List.of())
                .forEach(member -> member.touch(block -> work.add(new GpuTimes.ClientWork(-member.clientId(),
                        ThreadSlot.deviceSubmissions(member.session().memory(), member.slot()), block.busySamples(), block.samples(),
                        block.heldNs()))));
        return work;
    }

    @Override
    public long nextDeadlineNs() {
        return placement.get() == DevicePlacement.LEAST_LOADED ? nextLookNs : Long.MAX_VALUE;
    }
}
