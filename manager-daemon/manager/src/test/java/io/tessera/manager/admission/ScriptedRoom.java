package io.tessera.manager.admission;

import io.tessera.manager.placement.DeviceUse;
import io.tessera.protocol.DeviceUuid;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Clients and devices chosen by a test. Guarantees count from when the test lets a client announce them. */
final class ScriptedRoom implements AdmissionRoom {
    static final DeviceUuid FIRST = new DeviceUuid(1, 1);
    static final DeviceUuid SECOND = new DeviceUuid(2, 2);
    static final long CAPACITY = 100;

    /** A registered client; its guarantee counts once it has announced it. */
    record Client(AdmissionWish wish, boolean told) {
    }

    final Map<Long, Client> clients = new LinkedHashMap<>();
    final Map<DeviceUuid, Double> busyShares = new HashMap<>();
    private final Map<Long, DeviceUuid> onDevices = new HashMap<>();
    final Set<Integer> living = new HashSet<>();
    private long lastId;

    long register(AdmissionWish wish) {
        clients.put(++lastId, new Client(wish, false));
        return lastId;
    }

    void tell(long id) {
        clients.computeIfPresent(id, (_, client) -> new Client(client.wish(), true));
    }

    long guaranteed(DeviceUuid device) {
        return clients.entrySet().stream().filter(client -> deviceOf(client.getKey()).equals(Optional.of(device)))
                .mapToLong(client -> client.getValue().wish().guaranteeBytes()).sum();
    }

    private Optional<DeviceUuid> deviceOf(long id) {
        return Optional.ofNullable(onDevices.get(id)).or(() -> clients.get(id).wish().device());
    }

    @Override
    public Collection<Owner> clients() {
        return clients.values().stream().map(client -> new Owner(client.wish().uid(), client.wish().tenant())).toList();
    }

    /** Returns the use by clients on devices that {@link #arrive} has recorded; each takes the memory that it asked for. */
    @Override
    public DeviceUse use(CandidateDevice device, long nowNs) {
        List<AdmissionWish> there = onDevices.entrySet().stream()
                .filter(on -> on.getValue().equals(device.uuid()) && clients.containsKey(on.getKey()))
                .map(on -> clients.get(on.getKey()).wish()).toList();
        long takenBytes = there.stream().mapToLong(AdmissionWish::wishedBytes).sum();
        return new DeviceUse(device.uuid(), device.totalBytes(), Math.max(0, device.totalBytes() - takenBytes), there.size(), 0,
                busyShares.getOrDefault(device.uuid(), 0.0));
    }

    @Override
    public boolean hasDevice(long clientId) {
        return onDevices.containsKey(clientId);
    }

    /** Records that a client has a context on a device. */
    void arrive(long id, DeviceUuid device) {
        onDevices.put(id, device);
    }

    @Override
    public Optional<Guarantees> guarantees(Optional<DeviceUuid> device, long nowNs) {
        return device.map(uuid -> new Guarantees(uuid, CAPACITY, CAPACITY - clients.entrySet().stream()
                .filter(client -> client.getValue().told() && deviceOf(client.getKey()).equals(device))
                .mapToLong(client -> client.getValue().wish().guaranteeBytes()).sum()));
    }

    @Override
    public boolean countsGuaranteeOf(long clientId) {
        return clients.containsKey(clientId) && clients.get(clientId).told();
    }

    @Override
    public boolean isRegistered(long clientId) {
        return clients.containsKey(clientId);
    }

    @Override
    public long startTicks(int pid) {
        return living.contains(pid) ? 7 : 0;
    }
}
