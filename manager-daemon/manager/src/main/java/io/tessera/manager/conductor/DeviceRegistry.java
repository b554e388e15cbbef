package io.tessera.manager.conductor;

import io.tessera.manager.schedule.DeviceScheduler;
import io.tessera.manager.schedule.DeviceTurns;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.manager.session.Session;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.segment.SegmentLayout;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All devices by UUID and the clients on them; hears what clients say. One owner thread.
 *
 * <p>A device stays known after its last client left, with its mode and history, until {@value #MOST_IDLE_DEVICES}
 * such are there: clients name devices, and names are free.
 */
public final class DeviceRegistry {
    private static final int MOST_IDLE_DEVICES = 64;
    private static final Logger LOG = LoggerFactory.getLogger(DeviceRegistry.class);

    private final DistinctErrors errors;
    private final SchedulerFactory schedulers;
    private final Leases leases;
    private final TenantShares shares;
    private final Map<DeviceUuid, ManagedDevice> devices = new LinkedHashMap<>();
    private final Map<Session, DeviceClient[]> slots = new HashMap<>();
    /** Clients of executors, which announce no devices here. */
    private final Set<Session> relayed = new HashSet<>();
    /** Written down for all devices, also for those to come, or else the manager's options. */
    private DeviceSharing sharing;
    private final Map<DeviceUuid, DeviceSharing> written = new HashMap<>();
    private final Orders orders = new Orders();
    private long bells;

    /**
     * No devices yet.
     *
     * @param schedulers makes a scheduler per device
     * @param leases     keeps the tenants' limits
     * @param shares     what is set for tenants
     * @param mode       mode of a device that is new
     * @param policy     policy of a device that is new
     */
    public DeviceRegistry(DistinctErrors errors, SchedulerFactory schedulers, Leases leases, TenantShares shares, SchedulerMode mode,
            PolicyName policy) {
        this.errors = errors;
        this.schedulers = schedulers;
        this.leases = leases;
        this.shares = shares;
        this.sharing = DeviceSharing.of(mode).with(DeviceSharing.of(policy));
    }

    /** All known devices in the order in which they were announced. */
    public Collection<ManagedDevice> devices() {
        return devices.values();
    }

    /** The device of a UUID. */
    public Optional<ManagedDevice> device(DeviceUuid uuid) {
        return Optional.ofNullable(devices.get(uuid));
    }

    /** The slots of a client that it announced, in order. */
    public List<DeviceClient> members(Session session) {
        DeviceClient[] own = slots.getOrDefault(session, new DeviceClient[0]);
        return Arrays.stream(own).filter(Objects::nonNull).toList();
    }

    /**
     * It is written down how all devices are shared, also those to come. Settings written down for one device, and orders of an operator,
     * count more; the others stay as they are.
     */
    public void share(DeviceSharing newSharing, long nowNs) {
        sharing = sharing.with(newSharing);
        devices.forEach((uuid, device) -> newSharing.without(written.getOrDefault(uuid, DeviceSharing.UNSAID)).without(orders.of(uuid))
                .applyTo(device.scheduling(), nowNs));
    }

    /** It is written down how single devices are shared, whether they are known or not. An operator's orders count more. */
    public void written(Map<DeviceUuid, DeviceSharing> ofDevices, long nowNs) {
        written.clear();
        written.putAll(ofDevices);
        ofDevices.forEach((uuid, one) -> device(uuid).ifPresent(device -> one.without(orders.of(uuid)).applyTo(device.scheduling(), nowNs)));
    }

    /**
     * An operator orders how one device is shared, or all and those to come.
     *
     * @return false if there is no such device
     */
    public boolean order(Optional<DeviceUuid> uuid, DeviceSharing newSharing, long nowNs) {
        if (uuid.isEmpty()) {
            devices.values().forEach(device -> newSharing.applyTo(device.scheduling(), nowNs));
        } else if (device(uuid.get()).isEmpty()) {
            return false;
        } else {
            newSharing.applyTo(devices.get(uuid.get()).scheduling(), nowNs);
        }
        orders.add(uuid, newSharing);
        return true;
    }

    /** An operator orders how a device is shared that only an executor knows yet. */
    public void orderAhead(DeviceUuid uuid, DeviceSharing newSharing) {
        orders.add(Optional.of(uuid), newSharing);
    }

    /** How a device is to be shared, whether it is known or not. */
    public DeviceSharing sharing(DeviceUuid uuid) {
        return sharing.with(written.getOrDefault(uuid, DeviceSharing.UNSAID)).with(orders.of(uuid));
    }

    /** What operators have ordered since the manager started, and before it was killed. */
    public Orders orders() {
        return orders;
    }

    /** Why what holds for a tenant is not kept on devices that it is on: clients run freely there. */
    public Set<String> notKept(String tenant, long nowNs) {
        Set<String> reasons = new TreeSet<>();
        for (ManagedDevice device : devices.values()) {
            DeviceTurns turns = device.scheduling().snapshot(nowNs);
            if (!turns.exclusive() && turns.reason().endsWith(DeviceScheduler.NOT_KEPT) && isOn(device, tenant)) {
                reasons.add(device.uuid() + ": " + turns.reason());
            }
        }
        return reasons;
    }

    private boolean isOn(ManagedDevice device, String tenant) {
        return device.members().stream().anyMatch(member -> shares.nameOf(member.session()).equals(tenant));
    }

    /** The policies of the devices that a tenant is on; that of devices to come, where it is on none. */
    public Set<PolicyName> policiesOf(String tenant) {
        Set<PolicyName> policies = EnumSet.noneOf(PolicyName.class);
        for (ManagedDevice device : devices.values()) {
            if (isOn(device, tenant)) {
                policies.add(device.scheduling().policy());
            }
        }
        if (policies.isEmpty()) {
            sharing.with(orders.all()).policy().ifPresent(policies::add);
        }
        return policies;
    }

    /** What is set for tenants. */
    public TenantShares shares() {
        return shares;
    }

    /** Other things are written down for tenants from now on. */
    public void rules(ShareRules rules, long nowNs) {
        shares.rules(rules);
        for (ManagedDevice device : devices.values()) {
            Set<String> tenants = new HashSet<>();
            device.members().forEach(member -> tenants.add(shares.nameOf(member.session())));
            tenants.forEach(tenant -> device.scheduling().terms(tenant, shares.of(tenant), nowNs));
        }
    }

    /**
     * Sets what holds for a tenant, on all devices.
     *
     * @param whileItRuns only until the last of its programs has left
     * @return false if something is set for too many tenants
     */
    public boolean terms(String tenant, TenantTerms terms, boolean whileItRuns, long nowNs) {
        boolean set = shares.set(tenant, terms, whileItRuns);
        if (set) {
            devices.values().forEach(device -> device.scheduling().terms(tenant, terms, nowNs));
        }
        return set;
    }

    /** Tenants whose programs were expected back, and have no context yet, lose what was set while they run. */
    public void forgetAwaited() {
        for (String tenant : shares.awaited()) {
            leftIfGone(tenant);
        }
    }

    private void leftIfGone(String tenant) {
        if (devices.values().stream().noneMatch(device -> isOn(device, tenant))
                && relayed.stream().noneMatch(session -> shares.nameOf(session).equals(tenant))) {
            shares.left(tenant);
        }
    }

    /** A client shares by space: it is on no device here, but what is set for its tenant holds in executors. */
    public void relayed(Session session) {
        relayed.add(session);
    }

    /**
     * A client has a context on a device.
     *
     * @throws MalformedMessageException if that contradicts what it said before; its connection then ends
     */
    public void device(Session session, DeviceAnnouncement announced, long nowNs) throws MalformedMessageException {
        DeviceClient[] own = slots.computeIfAbsent(session, s -> new DeviceClient[SegmentLayout.MAX_DEVICES]);
        DeviceClient present = own[announced.slot()];
        if (present != null) {
            if (present.announcement().uuid().equals(announced.uuid())) {
                leases.asked(present, 0, nowNs); // said twice: it waits for its lease again
                return;
            }
            throw malformed("slot " + announced.slot() + " became another device");
        }
        for (DeviceClient other : own) {
            if (other != null && other.announcement().uuid().equals(announced.uuid())) {
                throw malformed("one device in two slots");
            }
        }
        ManagedDevice device = devices.get(announced.uuid());
        if (device == null) {
            device = newDevice(announced, nowNs);
        } else if (device.totalBytes() != announced.totalBytes()) {
            errors.record("clients disagree about the memory of " + device.uuid() + ": " + device.totalBytes()
                    + " bytes counts, one said " + announced.totalBytes());
        }
        DeviceClient member = new DeviceClient(session, announced);
        own[announced.slot()] = member;
        if (member.residencyPlanned()) {
            // Before its first lease, and so before its first allocation: all it holds is within a target.
            member.touch(block -> member.residency().active(true));
        }
        leases.joined(member);
        String tenant = shares.nameOf(session);
        device.join(member, tenant, shares.of(tenant), nowNs);
        noteSpans(nowNs);
        LOG.info("{} has a context on {} ({})", session, device.uuid(), device.name());
    }

    private ManagedDevice newDevice(DeviceAnnouncement announced, long nowNs) {
        List<DeviceUuid> idle = devices.values().stream().filter(d -> d.members().isEmpty()).map(ManagedDevice::uuid)
                .toList();
        if (idle.size() >= MOST_IDLE_DEVICES) {
            devices.remove(idle.getFirst());
        }
        ManagedDevice device = new ManagedDevice(announced, errors, schedulers, nowNs);
        devices.put(device.uuid(), device);
        sharing(device.uuid()).applyTo(device.scheduling(), nowNs);
        return device;
    }

    /** Words of a device changed; the slot may be one that the client never announced. */
    public void doorbell(Session session, int slot, long nowNs) {
        // The bell only ended the wait: the words of all clients are read in every cycle.
        bells++;
    }

    /**
     * A client needs bytes beyond its lease; unsigned.
     *
     * @throws MalformedMessageException if it never announced the slot
     */
    public void quotaAsk(Session session, int slot, long bytes, long nowNs) throws MalformedMessageException {
        leases.asked(announced(session, slot, "QUOTA_ASK"), bytes, nowNs);
    }

    /**
     * A client lowered its lease to this; unsigned.
     *
     * @throws MalformedMessageException if it never announced the slot
     */
    public void quotaReturn(Session session, int slot, long grantedBytes, long nowNs)
            throws MalformedMessageException {
        leases.returned(announced(session, slot, "QUOTA_RETURN"), grantedBytes);
    }

    private DeviceClient announced(Session session, int slot, String message) throws MalformedMessageException {
        DeviceClient[] own = slots.get(session);
        if (own == null || own[slot] == null) {
            throw malformed(message + " for a slot without a device");
        }
        return own[slot];
    }

    private static MalformedMessageException malformed(String reason) {
        return new MalformedMessageException(RefusalCode.MALFORMED, reason);
    }

    /** A client is gone with whatever it held. */
    public void ended(Session session, long nowNs) {
        DeviceClient[] own = slots.remove(session);
        if (own == null && !relayed.remove(session)) {
            return;
        }
        for (DeviceClient member : own == null ? new DeviceClient[0] : own) {
            if (member != null) {
                devices.get(member.announcement().uuid()).leave(member, nowNs);
                leases.left(member);
            }
        }
        leftIfGone(shares.nameOf(session));
        noteSpans(nowNs);
    }

    /** Tells each device whether a tenant on it works on others too. */
    private void noteSpans(long nowNs) {
        Map<String, Set<DeviceUuid>> reach = new HashMap<>();
        for (ManagedDevice device : devices.values()) {
            for (DeviceClient member : device.members()) {
                reach.computeIfAbsent(Leases.tenantOf(member), t -> new HashSet<>()).add(device.uuid());
            }
        }
        for (ManagedDevice device : devices.values()) {
            device.spans(device.members().stream().anyMatch(m -> reach.get(Leases.tenantOf(m)).size() > 1), nowNs);
        }
    }

    /** Reads the words of every client and hands on what changed. */
    int readWords(long nowNs) {
        int changes = 0;
        for (ManagedDevice device : devices.values()) {
            changes += device.readWords(nowNs);
        }
        return changes;
    }

    /** Lets every scheduler do what is due. */
    int schedule(long nowNs) {
        int work = 0;
        for (ManagedDevice device : devices.values()) {
            work += device.scheduling().doWork(nowNs);
        }
        return work;
    }

    /** Bells heard so far. */
    long bells() {
        return bells;
    }

    /** Whether any client has yet to answer an order. */
    boolean awaitsAnswer() {
        return devices.values().stream().anyMatch(ManagedDevice::awaitsAnswer);
    }

    /** When {@link #schedule} has to run next if nothing else happens. */
    long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (ManagedDevice device : devices.values()) {
            next = Math.min(next, device.scheduling().nextDeadlineNs());
        }
        return next;
    }
}
