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
 * All devices by UUID and the clients on them; receives what clients say. One owner thread.
 *
 * <p>A device stays known after its last client has left, with its mode and history, until there are {@value #MOST_IDLE_DEVICES} such devices:
 * clients name devices, and nothing limits the names.
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
    /** Written settings for all devices, present and future; otherwise the manager's options. */
    private DeviceSharing sharing;
    private final Map<DeviceUuid, DeviceSharing> written = new HashMap<>();
    private final Orders orders = new Orders();
    private long bells;

    /**
     * Creates a registry without devices.
     *
     * @param schedulers creates a scheduler for each device
     * @param leases     keeper of the tenants' limits
     * @param shares     settings of tenants
     * @param mode       mode of a new device
     * @param policy     policy of a new device
     */
    public DeviceRegistry(DistinctErrors errors, SchedulerFactory schedulers, Leases leases, TenantShares shares, SchedulerMode mode,
            PolicyName policy) {
        this.errors = errors;
        this.schedulers = schedulers;
        this.leases = leases;
        this.shares = shares;
        this.sharing = DeviceSharing.of(mode).with(DeviceSharing.of(policy));
    }

    /** Returns all known devices in the order in which they were announced. */
    public Collection<ManagedDevice> devices() {
        return devices.values();
    }

    /** Returns the device with a UUID. */
    public Optional<ManagedDevice> device(DeviceUuid uuid) {
        return Optional.ofNullable(devices.get(uuid));
    }

    /** Returns the slots that a client announced, in order. */
    public List<DeviceClient> members(Session session) {
        DeviceClient[] own = slots.getOrDefault(session, new DeviceClient[0]);
        return Arrays.stream(own).filter(Objects::nonNull).toList();
    }

    /**
     * Applies written settings of sharing to all devices, present and future. Settings written for one device, and an operator's orders, have
     * precedence; what these settings leave open stays as it is.
     */
    public void share(DeviceSharing newSharing, long nowNs) {
        sharing = sharing.with(newSharing);
        devices.forEach((uuid, device) -> newSharing.without(written.getOrDefault(uuid, DeviceSharing.UNSAID)).without(orders.of(uuid))
                .applyTo(device.scheduling(), nowNs));
    }

    /** Applies written settings of sharing to single devices, known or not. An operator's orders have precedence. */
    public void written(Map<DeviceUuid, DeviceSharing> ofDevices, long nowNs) {
        written.clear();
        written.putAll(ofDevices);
        ofDevices.forEach((uuid, one) -> device(uuid).ifPresent(device -> one.without(orders.of(uuid)).applyTo(device.scheduling(), nowNs)));
    }

    /**
     * Applies an operator's order to one device, or to all devices, present and future.
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

    /** Applies an operator's order to a device that only an executor knows yet. */
    public void orderAhead(DeviceUuid uuid, DeviceSharing newSharing) {
        orders.add(Optional.of(uuid), newSharing);
    }

    /** Returns how a device is to be shared, known or not. */
    public DeviceSharing sharing(DeviceUuid uuid) {
        return sharing.with(written.getOrDefault(uuid, DeviceSharing.UNSAID)).with(orders.of(uuid));
    }

    /** Returns the orders of operators, including those given to a manager that was killed. */
    public Orders orders() {
        return orders;
    }

    /** Returns why a tenant's settings do not hold on devices that it is on: clients run freely there. */
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

    /** Returns the policies of the devices that a tenant is on; if it is on none, the policy of new devices. */
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

    /** Returns the settings of tenants. */
    public TenantShares shares() {
        return shares;
    }

    /** Replaces the written settings of tenants. */
    public void rules(ShareRules rules, long nowNs) {
        shares.rules(rules);
        for (ManagedDevice device : devices.values()) {
            Set<String> tenants = new HashSet<>();
            device.members().forEach(member -> tenants.add(shares.nameOf(member.session())));
            tenants.forEach(tenant -> device.scheduling().terms(tenant, shares.of(tenant), nowNs));
        }
    }

    /**
     * Sets the terms of a tenant, on all devices.
     *
     * @param whileItRuns true: only until the last of its programs has left
     * @return false if too many tenants have settings
     */
    public boolean terms(String tenant, TenantTerms terms, boolean whileItRuns, long nowNs) {
        boolean set = shares.set(tenant, terms, whileItRuns);
        if (set) {
            devices.values().forEach(device -> device.scheduling().terms(tenant, terms, nowNs));
        }
        return set;
    }

    /** Drops the settings "while it runs" of tenants whose programs were expected back and have no context yet. */
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

    /** Records a client that shares by space: it is on no device here, but its tenant's settings hold in executors. */
    public void relayed(Session session) {
        relayed.add(session);
    }

    /**
     * Records that a client has a context on a device.
     *
     * @throws MalformedMessageException if that contradicts what the client said before; its connection then ends
     */
    public void device(Session session, DeviceAnnouncement announced, long nowNs) throws MalformedMessageException {
        DeviceClient[] own = slots.computeIfAbsent(session, s -> new DeviceClient[SegmentLayout.MAX_DEVICES]);
        DeviceClient present = own[announced.slot()];
        if (present != null) {
            if (present.announcement().uuid().equals(announced.uuid())) {
                leases.asked(present, 0, nowNs); // announced twice: the client waits for its lease again
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
            // Before the client's first lease, and so before its first allocation: all its memory is within a target.
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

    /** Records that words of a device changed; the slot may be one that the client never announced. */
    public void doorbell(Session session, int slot, long nowNs) {
        // The doorbell only ended the wait: the words of all clients are read in every cycle.
        bells++;
    }

    /**
     * Records that a client needs bytes beyond its lease (unsigned).
     *
     * @throws MalformedMessageException if the client never announced the slot
     */
    public void quotaAsk(Session session, int slot, long bytes, long nowNs) throws MalformedMessageException {
        leases.asked(announced(session, slot, "QUOTA_ASK"), bytes, nowNs);
    }

    /**
     * Records that a client lowered its lease to a value (unsigned).
     *
     * @throws MalformedMessageException if the client never announced the slot
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

    /** Removes a client that is gone, with everything it held. */
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

    /** Tells each device whether a tenant on it also works on others. */
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

    /** Reads the words of every client and passes on what changed. */
    int readWords(long nowNs) {
        int changes = 0;
        for (ManagedDevice device : devices.values()) {
            changes += device.readWords(nowNs);
        }
        return changes;
    }

    /** Lets every scheduler do the work that is due. */
    int schedule(long nowNs) {
        int work = 0;
        for (ManagedDevice device : devices.values()) {
            work += device.scheduling().doWork(nowNs);
        }
        return work;
    }

    /** Returns the number of doorbells received so far. */
    long bells() {
        return bells;
    }

    /** Returns whether any client has yet to answer an order. */
    boolean awaitsAnswer() {
        return devices.values().stream().anyMatch(ManagedDevice::awaitsAnswer);
    }

    /** Returns the time at which {@link #schedule} has to run next if nothing else happens. */
    long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (ManagedDevice device : devices.values()) {
            next = Math.min(next, device.scheduling().nextDeadlineNs());
        }
        return next;
    }
}
