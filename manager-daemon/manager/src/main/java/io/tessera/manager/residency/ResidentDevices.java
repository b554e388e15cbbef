package io.tessera.manager.residency;

import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.session.Session;
import io.tessera.memory.residency.MoveRates;
import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The devices whose memory is planned, and the clients on them. One owner thread. */
final class ResidentDevices {
    private final Map<DeviceUuid, DeviceResidency> devices = new LinkedHashMap<>();

    /** Returns the plan of a device; creates it if there is none, or only that of an earlier device with the same UUID. */
    DeviceResidency of(ManagedDevice device, Supplier<DeviceResidency> make) {
        DeviceResidency known = devices.get(device.uuid());
        if (known == null || known.device != device) {
            known = make.get();
            devices.put(device.uuid(), known);
        }
        return known;
    }

    /** Forgets devices. */
    void removeIf(Predicate<DeviceUuid> gone) {
        devices.keySet().removeIf(gone);
    }

    Collection<DeviceResidency> all() {
        return devices.values();
    }

    Optional<DeviceResidency> device(DeviceUuid uuid) {
        return Optional.ofNullable(devices.get(uuid));
    }

    Optional<ClientDeviceMemory> member(DeviceClient member) {
        return device(member.announcement().uuid()).flatMap(device -> device.members().stream()
                .filter(memory -> memory.member == member).findFirst());
    }

    /** Returns the clients whose memory can leave, on every device. */
    List<ClientDeviceMemory> swapping() {
        List<ClientDeviceMemory> swapping = new ArrayList<>();
        for (DeviceResidency device : devices.values()) {
            device.members().stream().filter(ClientDeviceMemory::movable).forEach(swapping::add);
        }
        return swapping;
    }

    /** Returns the entries of a process on all devices. */
    List<ClientDeviceMemory> members(Session session) {
        List<ClientDeviceMemory> members = new ArrayList<>();
        for (DeviceResidency device : devices.values()) {
            device.members().stream().filter(member -> member.member.session() == session).forEach(members::add);
        }
        return members;
    }

    /** Returns how fast Tessera's own swap moves the process's memory, on the slowest of its devices. */
    MoveRates rates(Session session) {
        MoveRates slowest = null;
        for (ClientDeviceMemory member : members(session)) {
            MoveRates rates = device(member.member.announcement().uuid()).orElseThrow().rates();
            boolean slower = slowest == null || rates.inBytesPerSecond() < slowest.inBytesPerSecond();
            slowest = slower ? rates : slowest;
        }
        return slowest == null ? MoveRates.pinned() : slowest;
    }

    /** Returns whether nothing of the client is on its device or can get there. */
    boolean isQuiet(ClientDeviceMemory member, long nowNs) {
        return device(member.member.announcement().uuid()).stream().allMatch(device -> device.device.scheduling()
                .outlook(member.clientId(), nowNs).quiet());
    }

    void comeBack(ClientDeviceMemory member, long nowNs) {
        on(member, device -> device.comeBack(member, nowNs));
    }

    void on(ClientDeviceMemory member, Consumer<DeviceResidency> action) {
        device(member.member.announcement().uuid()).ifPresent(action);
    }
}
