package io.tessera.manager.residency;

import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.turn.ClientOutlook;
import io.tessera.memory.residency.ClientMemoryState;
import io.tessera.memory.residency.MoveRates;
import io.tessera.memory.residency.ResidencyPlan;
import io.tessera.memory.residency.ResidencyPlanner;
import io.tessera.protocol.MemoryPlan;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which clients are resident on one device. Each {@link #doWork} reads the clients' words, parks clients without work that have to give
 * memory up, plans, and writes targets, until no target changes. One owner thread.
 */
final class DeviceResidency implements ResidencyView {
    /** Interval at which words that change without a doorbell are read: idle clients and the speed of moves are found in this way. */
    static final long LOOK_NS = 250_000_000L;

    /**
     * Maximum number of plans in a row. A plan that lowers a target is followed by one that hands out the freed memory; no more can become free at
     * once.
     */
    private static final int MOST_PLANS = 4;

    /** A client that is evicted by hand while it works may come back when all its memory has left, or at the latest after this time. */
    private static final long LEAVING_PATIENCE_NS = 10_000_000_000L;

    /**
     * Time for which a client waits for memory that the device cannot have for it, before its calls fail: a program that unmaps its memory and then frees
     * it, as JAX does at its end, has memory without an address for some 0.1 s, which cannot move.
     */
    private static final long IMPOSSIBLE_NS = 3_000_000_000L;

    private static final double GIB = 1L << 30;
    private static final Logger LOG = LoggerFactory.getLogger(DeviceResidency.class);

    final ManagedDevice device;
    private final ResidencySettings settings;
    private final ExecutorMemory executors;
    private final ResidencyPlanner planner = new ResidencyPlanner();
    private final MemoryPressure pressure;
    private final AdmissionHold newcomers;
    private final Map<Long, ClientDeviceMemory> members = new LinkedHashMap<>();
    /** Since when each client needs more than the device can have for it, and those of which that was logged. */
    private final Map<Long, Long> refusedSinceNs = new HashMap<>();
    private final Set<Long> refused = new HashSet<>();
    private final MoveMeter meter = new MoveMeter();
    private final UsableMemory usable;
    private final ResidencyWatchdog standing = new ResidencyWatchdog();
    private ResidencyPlan plan;
    private long settledNs = Long.MIN_VALUE;
    private long nextLookNs = Long.MIN_VALUE;

    DeviceResidency(ManagedDevice device, ResidencySettings settings, ExecutorMemory executors, long nowNs) {
        this.device = device;
        this.settings = settings;
        this.executors = executors;
        this.pressure = new MemoryPressure(settings);
        this.newcomers = new AdmissionHold(pressure);
        this.usable = new UsableMemory(device.uuid(), device.totalBytes(), nowNs);
    }

    @Override
    public ManagedDevice device() {
        return device;
    }

    @Override
    public Collection<ClientDeviceMemory> members() {
        return members.values();
    }

    /** Returns whether there is memory to be planned. */
    boolean planned() {
        return members.values().stream().anyMatch(ClientDeviceMemory::planned);
    }

    long nextDeadlineNs() {
        return planned() ? nextLookNs : Long.MAX_VALUE;
    }

    /** Returns when idle clients are checked next, planned or not. */
    long nextLookNs() {
        return nextLookNs;
    }

    @Override
    public long settledNs() {
        return settledNs;
    }

    /** Returns the clients that may run and cannot, and why; empty: none. */
    String standing() {
        return standing.sentence();
    }

    /** Returns whether the device was found to have less memory than its size suggests. */
    boolean isBounded() {
        return usable.room().isBounded();
    }

    /** Returns the device memory that clients and executors can have together. */
    long capacityBytes() {
        return usable.room().roomBytes(believedBytes());
    }

    /** Returns the same value, as far as it is certain enough to refuse a request. */
    long certainBytes(long nowNs) {
        return Math.max(1, usable.room().confirmedBytes(believedBytes(), nowNs));
    }

    /** Returns the memory that the device should have: its size less what contexts take. */
    private long believedBytes() {
        if (settings.capacityBytes() > 0) {
            return Math.min(settings.capacityBytes(), device.totalBytes());
        }
        long contexts = usable.room().contextBytes() * (members.size() + (executorBytes() > 0 ? 1 : 0));
        return Math.max(device.totalBytes() / 2, device.totalBytes() - contexts);
    }

    @Override
    public long executorBytes() {
        return Math.clamp(executors.bytes(device.uuid()), 0, device.totalBytes());
    }

    /** Returns the memory for clients: the planned memory less that of executors. */
    private long roomBytes() {
        return Math.max(1, plannedBytes() - executorBytes());
    }

    @Override
    public long plannedBytes() {
        long largest = members.values().stream().filter(ClientDeviceMemory::movable)
                .mapToLong(member -> Math.max(member.neededBytes, member.wantedBytes)).max().orElse(0);
        return usable.room().plannedBytes(believedBytes(), settings.capacityBytes() > 0, largest + fixedBytes());
    }

    /** Returns the memory that cannot leave, including that of executors. */
    long fixedBytes() {
        return executorBytes() + members.values().stream().mapToLong(member -> member.plan == MemoryPlan.MANAGED ? 0
                : member.fixedBytes).sum();
    }

    /** Returns the memory of its clients of plan swap beyond what the device holds. */
    long beyondBytes(long nowNs) {
        long swappable = members.values().stream().mapToLong(member -> member.swappableBytes - member.hostlessBytes()).sum();
        return Math.max(0, swappable - Math.max(0, certainBytes(nowNs) - fixedBytes()));
    }

    int doWork(long nowNs) {
        int work = refreshMembers(nowNs);
        boolean look = nowNs >= nextLookNs;
        if (look) {
            nextLookNs = nowNs + LOOK_NS;
        }
        boolean planned = planned();
        if (planned || look || members.values().stream().anyMatch(member -> member.parked)) {
            read(look, nowNs);
        }
        if (!planned) {
            return work + unpark(nowNs) + pressure.nothingPlanned(device.scheduling(), nowNs);
        }
        usable.reconcile(members.values(), executorBytes(), () -> read(false, nowNs), nowNs);
        nextLookNs = Math.min(nextLookNs, usable.room().nextDeadlineNs());
        work += judgeShort(nowNs);
        work += parkLacking(nowNs);
        newcomers.judge(members.values(), roomBytes(), () -> !device.scheduling().snapshot(nowNs).exclusive(), look,
                meter.rates(), nowNs);
        if (newcomers.holding()) {
            nextLookNs = Math.min(nextLookNs, nowNs + AdmissionHold.LOOK_NS);
        }
        work += pressure.judge(this, meter.rates(), nowNs);
        work += unpark(nowNs);
        work += evictIdle(nowNs);
        for (int i = 0; i < MOST_PLANS; i++) {
            int written = plan(nowNs);
            work += written;
            if (written == 0) {
                break;
            }
            read(false, nowNs);
        }
        return work + standing.watch(this, nowNs);
    }

    /** Finds the clients whose needs cannot be met on this device, and those whose needs can be met again. */
    private int judgeShort(long nowNs) {
        int done = 0;
        for (ClientDeviceMemory member : members.values()) {
            boolean impossible = member.movable() && member.neededBytes > limitBytes(member, nowNs);
            boolean waits = member.member.waitsSinceNs() != 0 && !member.member.isOpen() && !member.checkpointed;
            member.impossibleSinceNs = !impossible || !waits ? ClientDeviceMemory.NEVER
                    : member.impossibleSinceNs == ClientDeviceMemory.NEVER ? nowNs : member.impossibleSinceNs;
            if (!member.shortOf.isEmpty()) {
                boolean stays = impossible || member.shortSinceNs >= settledNs && !isResumed(member.shortOfStopped, nowNs);
                done += stays ? 0 : recover(member);
            } else if (impossible && waits && nowNs - member.impossibleSinceNs >= IMPOSSIBLE_NS) {
                fallsShort(member, _ -> String.format(Locale.ROOT, "client %d needs %.2f GiB, and the device has %.2f for it",
                        member.clientId(), member.neededBytes / GIB, limitBytes(member, nowNs) / GIB), ClientDeviceMemory.NEVER, nowNs);
                done++;
            }
        }
        return done;
    }

    /** Returns whether a client was stopped by a signal and is not any more. */
    private boolean isResumed(ClientDeviceMemory stopped, long nowNs) {
        return stopped != null && (!members.containsValue(stopped) || !stopped.isStopped(nowNs));
    }

    @Override
    public void fallsShort(ClientDeviceMemory member, Function<ClientNames, String> why, long sinceNs, long nowNs) {
        LOG.warn("{} is out of memory on {}: {}", member.member.session(), device.uuid(), why.apply(ClientNames.ALL));
        member.shortOf = why.apply(ClientNames.forUserOf(member));
        member.shortSinceNs = sinceNs;
        member.member.session().tellShortage(member.member.slot(), member.shortOf);
        member.tellFlags();
        park(member, true, nowNs);
    }

    private static int recover(ClientDeviceMemory member) {
        LOG.info("{} may ask for its turn again", member.member.session());
        member.shortOf = "";
        member.shortOfStopped = null;
        member.tellFlags();
        return 1;
    }

    private int refreshMembers(long nowNs) {
        int changes = 0;
        Set<Long> present = new HashSet<>();
        for (DeviceClient member : device.members()) {
            present.add(member.clientId());
            if (!members.containsKey(member.clientId())) {
                ClientDeviceMemory memory = new ClientDeviceMemory(member, nowNs);
                members.put(member.clientId(), memory);
                usable.room().contextOpened(nowNs);
                if (memory.planned()) {
                    device.scheduling().movable(member.clientId());
                }
                changes++;
            }
        }
        if (members.keySet().retainAll(present) | changes > 0) {
            refused.retainAll(present);
            pressure.left(present);
            settledNs = nowNs;
            changes++;
        }
        return changes;
    }

    private void read(boolean look, long nowNs) {
        boolean moved = false;
        for (ClientDeviceMemory member : members.values()) {
            member.read(device.totalBytes(), look, nowNs);
            if (look && member.movable()) {
                member.measure(meter);
            }
            moved |= member.takeMoved();
        }
        if (moved) {
            settledNs = nowNs;
            device.scheduling().moved(nowNs);
        }
    }

    /**
     * Parks a client without work whose memory is partly off the device, until it asks. If it were told to run, all its memory would come back for
     * nothing.
     */
    private int parkLacking(long nowNs) {
        int done = 0;
        for (ClientDeviceMemory member : members.values()) {
            boolean away = member.movable() && !member.parked && !member.checkpointed && !member.waits() && !member.activeAt(nowNs);
            if (away && member.residentBytes - member.cachedBytes < member.neededBytes) {
                ClientOutlook outlook = device.scheduling().outlook(member.clientId(), nowNs);
                if (outlook.quiet() && outlook.nextTurnNs() == Long.MAX_VALUE) {
                    park(member, true, nowNs);
                    done++;
                }
            }
        }
        return done;
    }

    /** Brings back clients that ask for a turn or for memory. */
    private int unpark(long nowNs) {
        int done = 0;
        for (ClientDeviceMemory member : members.values()) {
            boolean comes = member.parked && member.waits() && !member.checkpointed && !member.heldBack && member.shortOf.isEmpty();
            if (comes && !leaves(member, nowNs)) {
                comeBack(member, nowNs);
                done++;
            }
        }
        return done;
    }

    /** Returns whether it was evicted by hand and still has contents on the device, which the host may have no room for. */
    private static boolean leaves(ClientDeviceMemory member, long nowNs) {
        member.leaving &= member.residentBytes > member.cachedBytes
                && nowNs - member.leavingSinceNs < LEAVING_PATIENCE_NS;
        return member.leaving;
    }

    void comeBack(ClientDeviceMemory member, long nowNs) {
        boolean wasEvicted = member.evicted;
        member.evicted = false;
        member.leaving = false;
        member.lastActiveNs = nowNs;
        park(member, false, nowNs);
        if (wasEvicted) {
            LOG.info("{} comes back to {}", member.member.session(), device.uuid());
            member.tellFlags();
        }
    }

    /** Makes a client leave the device until it asks for a turn. */
    void evictByHand(ClientDeviceMemory member, String why, long nowNs) {
        evict(member, why, nowNs);
        member.leaving = true;
        member.leavingSinceNs = nowNs;
    }

    /** Makes a client stop and keep its memory where it is, because the driver will take the process off the device in this state. */
    void setAside(ClientDeviceMemory member, long nowNs) {
        park(member, true, nowNs);
    }

    /** Makes a suspended client come back: it asks for its turn, and for room, before the driver restores it. */
    void askForReturn(ClientDeviceMemory member, long nowNs) {
        member.lastActiveNs = nowNs;
        if (member.member.waitsSinceNs() == 0) {
            device.scheduling().wants(member.clientId(), nowNs, nowNs);
        }
        standIn(member, nowNs);
    }

    /** Answers on behalf of a client that the driver has stopped, and that therefore cannot answer. It was drained before. */
    void standIn(ClientDeviceMemory member, long nowNs) {
        device.answerFor(member.member, nowNs);
        device.scheduling().moved(nowNs);
    }

    /** Lets the client answer and ask for itself again. */
    void asksItself(ClientDeviceMemory member, long nowNs) {
        device.answersItself(member.member, nowNs);
    }

    /** Returns how fast memory moves here. */
    MoveRates rates() {
        return meter.rates();
    }

    private void evict(ClientDeviceMemory member, String why, long nowNs) {
        LOG.info("{} leaves {}: {}", member.member.session(), device.uuid(), why);
        member.evicted = true;
        member.tellFlags();
        park(member, true, nowNs);
    }

    private void park(ClientDeviceMemory member, boolean parked, long nowNs) {
        if (member.parked != parked) {
            member.parked = parked;
            device.scheduling().parked(member.clientId(), parked, nowNs);
        }
    }

    private int evictIdle(long nowNs) {
        if (settings.idleEvictNs() == 0) {
            return 0;
        }
        int done = 0;
        for (ClientDeviceMemory member : members.values()) {
            boolean holds = member.residentBytes > 0 && member.movable() && !member.evicted && !member.checkpointed;
            if (holds && !member.waits() && nowNs - member.lastActiveNs >= settings.idleEvictNs()) {
                evict(member, "idle for " + (nowNs - member.lastActiveNs) / 1_000_000L + " ms", nowNs);
                done++;
            }
        }
        return done;
    }

    private List<ClientMemoryState> clients(long nowNs) {
        DeviceScheduling turns = device.scheduling();
        boolean exclusive = turns.snapshot(nowNs).exclusive();
        List<ClientMemoryState> clients = new ArrayList<>(members.size());
        for (ClientDeviceMemory member : members.values()) {
            ClientOutlook outlook = turns.outlook(member.clientId(), nowNs);
            clients.add(member.toPlan(outlook, exclusive, roomBytes(), nowNs));
        }
        return clients;
    }

    /** Plans once and writes the results; returns the number of values written. */
    private int plan(long nowNs) {
        List<ClientMemoryState> clients = clients(nowNs);
        plan = planner.plan(roomBytes(), clients, nowNs);
        int written = 0;
        for (ClientMemoryState client : clients) {
            ClientDeviceMemory member = members.get(client.clientId());
            if (!member.planned()) {
                continue;
            }
            if (member.stuckAt(nowNs) && !client.running()) {
                continue; // it was told already
            }
            member.goalBytes = plan.goals().get(client.clientId());
            boolean away = !client.running() && !client.awaitsTurn() && !member.waits();
            if (!member.parked && away && plan.mustStop().contains(client.clientId())) {
                // It does not work: if it is told to stop, it can give its memory up.
                park(member, true, nowNs);
                pressure.evicted(member, nowNs);
                written++;
            }
            if (member.tellTarget(plan.targets().get(client.clientId()), limitBytes(member, nowNs), settings.capacityBytes(), nowNs)) {
                member.ring();
                written++;
            }
        }
        sayRefused(nowNs);
        return written;
    }

    /** Returns the most that the client can be given beside memory that cannot leave and guarantees of others. */
    private long limitBytes(ClientDeviceMemory member, long nowNs) {
        long limit = certainBytes(nowNs) - executorBytes();
        for (ClientDeviceMemory each : members.values()) {
            long fixed = each.fixedBytes - each.claimedBytes;
            limit -= fixed;
            limit -= each == member ? 0 : Math.max(0, each.guaranteeBytes - fixed);
        }
        return Math.max(1, limit);
    }

    private void sayRefused(long nowNs) {
        plan.refused().forEach((clientId, sentence) -> {
            ClientDeviceMemory member = members.get(clientId);
            boolean lacks = Math.max(member.neededBytes, member.wantedBytes) > limitBytes(member, nowNs);
            if (lacks && nowNs - refusedSinceNs.computeIfAbsent(clientId, _ -> nowNs) >= IMPOSSIBLE_NS && refused.add(clientId)) {
                LOG.warn("{}: {}", device.uuid(), sentence);
            }
        });
        refusedSinceNs.keySet().retainAll(plan.refused().keySet());
        refused.retainAll(plan.refused().keySet());
    }

    /** Returns the latest plan; null before the first. */
    ResidencyPlan plan() {
        return plan;
    }
}
