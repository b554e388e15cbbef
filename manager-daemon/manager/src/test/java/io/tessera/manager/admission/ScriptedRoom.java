package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Clients and devices as a test says. Guarantees count when the test has had a client tell them. */
final class ScriptedRoom implements AdmissionRoom {
    static final DeviceUuid FIRST = new DeviceUuid(1, 1);
    static final DeviceUuid SECOND = new DeviceUuid(2, 2);
    static final long CAPACITY = 100;

    /** A registered client; its guarantee counts once it has told it. */
    record Client(AdmissionWish wish, boolean told) {
    }

    final Map<Long, Client> clients = new LinkedHashMap<>();
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
        return clients.values().stream().filter(client -> client.wish().device().equals(Optional.of(device)))
                .mapToLong(client -> client.wish().guaranteeBytes()).sum();
    }

    @Override
    public int clients() {
        return clients.size();
    }

    @Override
    public int clientsOf(int uid) {
        return (int) clients.values().stream().filter(client -> client.wish().uid() == uid).count();
    }

    @Override
    public Optional<Guarantees> guarantees(Optional<DeviceUuid> device, long nowNs) {
        return device.map(uuid -> new Guarantees(uuid, CAPACITY, CAPACITY - clients.values().stream()
                .filter(client -> client.told() && client.wish().device().equals(device)).mapToLong(client -> client.wish().guaranteeBytes())
                .sum()));
    }

    @Override
    public boolean countsGuaranteeOf(long clientId) {
        return clients.get(clientId).told();
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
