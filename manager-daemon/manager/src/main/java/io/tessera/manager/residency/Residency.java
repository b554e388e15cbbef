package io.tessera.manager.residency;

import io.tessera.manager.admission.AdmissionRoom;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.Leases;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.session.Session;
import io.tessera.memory.residency.SwapAdmission;
import io.tessera.os.memory.HostMemorySource;
import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Decides which clients are resident on every device, and which host memory holds the rest. In each cycle, after turns and leases, it reads the
 * clients' words, plans, and writes targets. One owner thread.
 */
public final class Residency implements Conductor.Timed {
    private final DeviceRegistry registry;
    private final ResidencySettings settings;
    private final ExecutorMemory executors;
    private final HostShares host;
    private final Suspensions suspensions;
    private final Leases leases;
    private final ResidentDevices devices = new ResidentDevices();

    /** Creates the planner for the devices that clients announce, beside executors on the same devices. */
    public Residency(DeviceRegistry registry, Leases leases, ResidencySettings settings, HostMemorySource memory,
            ExecutorMemory executors, Checkpoints checkpoints) {
        this.executors = executors;
        this.leases = leases;
        this.registry = registry;
        this.settings = settings;
        this.host = new HostShares(memory, settings);
        this.suspensions = new Suspensions(devices, host, checkpoints);
    }

    @Override
    public int doWork(long nowNs) {
        int work = 0;
        for (ManagedDevice device : registry.devices()) {
            work += devices.of(device, () -> new DeviceResidency(device, settings, executors, nowNs)).doWork(nowNs);
        }
        work += suspensions.doWork(nowNs);
        devices.removeIf(uuid -> registry.device(uuid).isEmpty());
        List<ClientDeviceMemory> swapping = devices.swapping();
        if (!swapping.isEmpty()) {
            work += host.share(swapping, nowNs);
            admit(swapping, nowNs);
        }
        return work;
    }

    /**
     * Sets what clients of plan swap may have on each device: its capacity less what cannot leave, the part of the host's backing that clients of
     * other devices do not need, and their zero memory, which needs no backing.
     */
    private void admit(List<ClientDeviceMemory> swapping, long nowNs) {
        long backing = host.backingBytes(swapping);
        long overTotal = 0;
        for (DeviceResidency device : devices.all()) {
            overTotal += device.beyondBytes(nowNs);
        }
        for (DeviceResidency device : devices.all()) {
            if (device.members().stream().anyMatch(ClientDeviceMemory::movable)) {
                long others = overTotal - device.beyondBytes(nowNs);
                long capacity = device.certainBytes(nowNs);
                long hostless = device.members().stream().mapToLong(ClientDeviceMemory::hostlessBytes).sum();
                SwapAdmission admission = new SwapAdmission(capacity,
                        Math.min(capacity, device.fixedBytes()), Math.max(0, backing - others) + hostless);
                leases.leasable(device.device.uuid(), admission.leasableBytes());
            }
        }
    }

    @Override
    public long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (DeviceResidency device : devices.all()) {
            next = Math.min(next, suspensions.isEmpty() ? device.nextDeadlineNs() : device.nextLookNs());
        }
        return next;
    }

    /** Returns the devices and their clients. */
    ResidentDevices devices() {
        return devices;
    }

    HostShares host() {
        return host;
    }

    /**
     * Makes a tenant's clients leave every device until their next call.
     *
     * @param suspend true: whole processes leave, with their contexts, under any plan
     * @return the clients that leave, and those that are not suspended
     */
    public Eviction evict(String tenant, IntPredicate owners, boolean suspend, long nowNs) {
        int clients = 0;
        Set<Session> suspended = new LinkedHashSet<>();
        for (DeviceResidency device : devices.all()) {
            for (ClientDeviceMemory member : List.copyOf(device.members())) {
                boolean meant = isMeant(member, tenant, owners);
                if (meant && suspend) {
                    suspended.add(member.member.session());
                } else if (meant && member.movable()) {
                    device.evictByHand(member, "evicted by hand", nowNs);
                    clients++;
                }
            }
        }
        List<String> notSuspended = new ArrayList<>();
        for (Session session : suspended) {
            Optional<String> unfit = suspensions.begin(session, nowNs);
            unfit.ifPresent(why -> notSuspended.add("process " + session.peer().pid() + ": " + why));
            clients += (int) devices.members(session).stream().filter(member -> unfit.isEmpty() || member.movable()).count();
        }
        return new Eviction(clients, notSuspended);
    }

    /**
     * Returns the device memory that could be guaranteed to one more client, on the given device or on the only one; empty if no client uses the
     * device, or if the device is unknown.
     */
    public Optional<AdmissionRoom.Guarantees> guarantees(Optional<DeviceUuid> uuid, long nowNs) {
        Optional<DeviceResidency> meant = uuid.isPresent() ? devices.device(uuid.get())
                : devices.all().size() == 1 ? devices.all().stream().findFirst() : Optional.empty();
        return meant.map(device -> {
            long capacityBytes = device.certainBytes(nowNs);
            long takenBytes = device.executorBytes() + device.members().stream()
                    .mapToLong(member -> Math.max(member.fixedBytes - member.claimedBytes, member.guaranteeBytes)).sum();
            return new AdmissionRoom.Guarantees(device.device().uuid(), capacityBytes, Math.max(0, capacityBytes - takenBytes));
        });
    }

    /** Returns whether a client has asked for its guarantee. */
    public boolean knowsGuaranteeOf(long clientId) {
        return devices.all().stream().flatMap(device -> device.members().stream())
                .anyMatch(member -> member.clientId() == clientId && member.guaranteeBytes > 0);
    }

    /** Restores suspended processes: no other process would after the manager's end. */
    public void close() {
        suspensions.close();
    }

    /**
     * Makes a tenant's evicted clients come back now.
     *
     * @return the number of these clients
     */
    public int restore(String tenant, IntPredicate owners, long nowNs) {
        int clients = 0;
        for (DeviceResidency device : devices.all()) {
            for (ClientDeviceMemory member : List.copyOf(device.members())) {
                if (isMeant(member, tenant, owners) && member.evicted) {
                    suspensions.restore(member.member.session());
                    if (!member.checkpointed) {
                        device.comeBack(member, nowNs);
                    }
                    clients++;
                }
            }
        }
        return clients;
    }

    /** Returns whether the tenant has a client of one of these users on a device, under any plan. */
    public boolean knows(String tenant, IntPredicate owners) {
        return devices.all().stream().flatMap(device -> device.members().stream()).anyMatch(member -> isMeant(member, tenant, owners));
    }

    private static boolean isMeant(ClientDeviceMemory member, String tenant, IntPredicate owners) {
        return member.tenant().equals(tenant) && owners.test(member.member.session().peer().uid());
    }
}
