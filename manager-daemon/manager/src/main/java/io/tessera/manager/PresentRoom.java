package io.tessera.manager;

import io.tessera.manager.admission.AdmissionRoom;
import io.tessera.manager.admission.CandidateDevice;
import io.tessera.manager.placement.DeviceUse;
import io.tessera.manager.residency.Residency;
import io.tessera.manager.session.Session;
import io.tessera.os.ProcessPort;
import io.tessera.protocol.DeviceUuid;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Supplier;

/** The clients and devices of this manager, as the queue for admission needs them. One owner thread. */
record PresentRoom(Supplier<Collection<Session>> registered, Residency residency, PresentDevices devices, ProcessPort processes)
        implements AdmissionRoom {
    @Override
    public Collection<Owner> clients() {
        return registered.get().stream().map(session -> new Owner(session.peer().uid(), session.hello().tenant())).toList();
    }

    @Override
    public DeviceUse use(CandidateDevice device, long nowNs) {
        return devices.use(device, nowNs);
    }

    @Override
    public boolean hasDevice(long clientId) {
        return registered.get().stream().anyMatch(session -> session.clientId() == clientId && devices.has(session));
    }

    @Override
    public Optional<Guarantees> guarantees(Optional<DeviceUuid> device, long nowNs) {
        return residency.guarantees(device, nowNs);
    }

    @Override
    public boolean countsGuaranteeOf(long clientId) {
        return residency.knowsGuaranteeOf(clientId);
    }

    @Override
    public boolean isRegistered(long clientId) {
        return registered.get().stream().anyMatch(session -> session.clientId() == clientId);
    }

    @Override
    public long startTicks(int pid) {
        return processes.startTicks(pid);
    }
}
