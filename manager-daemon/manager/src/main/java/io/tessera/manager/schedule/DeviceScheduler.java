package io.tessera.manager.schedule;

import io.tessera.manager.schedule.mode.AutoPolicy;
import io.tessera.manager.schedule.mode.ExclusiveTurns;
import io.tessera.manager.schedule.mode.FreeRunning;
import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.manager.schedule.mode.SharingMode;
import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientOutlook;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.schedule.turn.TurnLock;
import io.tessera.manager.schedule.turn.TurnObserver;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import java.util.Objects;

/**
 * The scheduler of one device: the turn lock, driven by the mode that was set. It starts in {@link SchedulerMode#AUTO}.
 *
 * <p>Every event is handled completely: orders that it leads to are written before the call returns. Not thread-safe: one owner thread. The port must
 * not call back while it is called, except that {@link TurnPort#end} may lead to {@link #left}.
 */
public final class DeviceScheduler implements DeviceScheduling {
    /**
     * The end of a turn may change what the mode wants, and that may lead to another order. One event can cause at most two rounds, so a third one
     * means that a mode contradicts itself.
     */
    private static final int MAX_ROUNDS = 3;

    /** Last part of the reason on a device on which settings of tenants do not hold. */
    public static final String NOT_KEPT = "; shares and caps do not hold";

    private ScheduleSettings settings;
    private final TurnPort port;
    private final TurnLock lock;

    private SchedulerMode modeName = SchedulerMode.AUTO;
    private SharingMode mode;
    private boolean severalDevices;
    private boolean sharesDiffer;
    private MemoryVerdict memory = MemoryVerdict.UNPLANNED;

    /**
     * Creates the scheduler of a device that no client uses yet.
     *
     * @param settings quantum, grace, capacity and the constants of {@code auto}
     * @param port     destination of orders and source of loads; the caller owns it
     * @param nowNs    the caller's monotonic clock
     */
    public DeviceScheduler(ScheduleSettings settings, TurnPort port, long nowNs) {
        this.settings = Objects.requireNonNull(settings, "settings");
        this.port = Objects.requireNonNull(port, "port");
        this.mode = newMode(SchedulerMode.AUTO, nowNs);
        this.lock = new TurnLock(settings, port, new ModeObserver());
    }

    private SharingMode newMode(SchedulerMode name, long nowNs) {
        return switch (name) {
            case OFF -> new FreeRunning(FreeRunning.SET_TO_OFF);
            case ON -> new ExclusiveTurns(ExclusiveTurns.SET_TO_ON);
            case AUTO -> severalDevices ? new FreeRunning(FreeRunning.SPANS_DEVICES)
                    : sharesDiffer ? new ExclusiveTurns(ExclusiveTurns.SHARES)
                    : new AutoPolicy(settings, port, () -> lock.handovers().medianNs(), nowNs);
        };
    }

    @Override
    public void joined(long clientId, String tenant, TenantTerms terms, long nowNs) {
        if (lock.joined(clientId, tenant, terms, nowNs)) {
            mode.joined(clientId, nowNs);
        }
        run(nowNs);
    }

    @Override
    public void left(long clientId, long nowNs) {
        lock.left(clientId, nowNs);
        mode.left(clientId, nowNs);
        run(nowNs);
    }

    @Override
    public void wants(long clientId, long sinceNs, long nowNs) {
        lock.wants(clientId, sinceNs, nowNs);
        mode.waits(clientId, sinceNs != 0, nowNs);
        run(nowNs);
    }

    @Override
    public void acknowledged(long clientId, long epoch, AckState state, long nowNs) {
        lock.acknowledged(clientId, epoch, state, nowNs);
        run(nowNs);
    }

    @Override
    public void mode(SchedulerMode name, long nowNs) {
        if (name != modeName) {
            modeName = name;
            take(newMode(name, nowNs), nowNs);
        }
    }

    @Override
    public void spans(boolean several, long nowNs) {
        if (several != severalDevices) {
            severalDevices = several;
            if (modeName == SchedulerMode.AUTO) {
                take(newMode(modeName, nowNs), nowNs);
            }
        }
    }

    /** Lets {@code auto} take turns while tenants are to have different parts, which turns give them; except where turns could stand still. */
    private void followShares(long nowNs) {
        boolean differ = lock.queue().needsTurns();
        if (differ != sharesDiffer) {
            sharesDiffer = differ;
            if (modeName == SchedulerMode.AUTO && !severalDevices) {
                enter(newMode(modeName, nowNs), nowNs);
            }
        }
    }

    private void take(SharingMode next, long nowNs) {
        enter(next, nowNs);
        run(nowNs);
    }

    private void enter(SharingMode next, long nowNs) {
        mode = next;
        mode.memory(memory, nowNs);
        for (long clientId : lock.clientIds()) {
            mode.joined(clientId, nowNs);
            mode.waits(clientId, lock.waits(clientId), nowNs);
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the quantum is out of {@link ScheduleSettings#checkQuantum}'s range
     */
    @Override
    public void quantumNs(long ns, long nowNs) {
        ScheduleSettings.checkQuantum(ns);
        settings = settings.withQuantumNs(ns);
        run(nowNs);
    }

    @Override
    public void policy(PolicyName policy, long nowNs) {
        lock.queue().policy(policy, nowNs);
        run(nowNs);
    }

    @Override
    public PolicyName policy() {
        return lock.queue().policy();
    }

    @Override
    public void terms(String tenant, TenantTerms terms, long nowNs) {
        lock.queue().terms(tenant, terms, nowNs);
        run(nowNs);
    }

    @Override
    public int doWork(long nowNs) {
        return run(nowNs);
    }

    private int run(long nowNs) {
        followShares(nowNs);
        int done = mode.doWork(nowNs);
        int rounds = 0;
        do {
            lock.sampling(mode.sample());
            lock.freePaceNs(mode.freePaceNs());
            lock.quantumNs(turnNs(nowNs));
            lock.exclusive(exclusive(), nowNs);
            done += lock.advance(nowNs);
            rounds++;
        } while (lock.isExclusive() != exclusive() && rounds < MAX_ROUNDS);
        return done;
    }

    /** Returns whether clients take turns. Clients that cannot be resident together do so in every mode: otherwise none could run. */
    private boolean exclusive() {
        return memory.must() || mode.exclusive();
    }

    private long turnNs(long nowNs) {
        long turnNs = mode.turnQuantumNs(settings.turnNs(lock.takingPart(nowNs)));
        return settings.fitsSecond() ? Math.max(turnNs, memory.quantumNs()) : turnNs;
    }

    @Override
    public void memory(MemoryVerdict verdict, long nowNs) {
        if (!verdict.equals(memory)) {
            memory = verdict;
            mode.memory(verdict, nowNs);
            run(nowNs);
        }
    }

    @Override
    public void movable(long clientId) {
        lock.change(clientId, client -> client.movable = true);
    }

    @Override
    public void parked(long clientId, boolean parked, long nowNs) {
        lock.parked(clientId, parked, nowNs);
        run(nowNs);
    }

    @Override
    public void idleRelease(long clientId, long ns) {
        lock.change(clientId, client -> client.idleReleaseNs = ns);
    }

    @Override
    public void moved(long nowNs) {
        lock.moved(nowNs);
    }

    @Override
    public ClientOutlook outlook(long clientId, long nowNs) {
        return lock.outlook(clientId, nowNs);
    }

    @Override
    public long nextDeadlineNs() {
        return Math.min(lock.nextDeadlineNs(), mode.nextDeadlineNs());
    }

    @Override
    public DeviceTurns snapshot(long nowNs) {
        return new DeviceTurns(modeName, lock.isExclusive(), reason(nowNs), lock.queue().policy(), lock.quantumNs(), lock.holder(),
                lock.holderSinceNs(), lock.handovers().count(), lock.handovers().medianNs());
    }

    private String reason(long nowNs) {
        if (memory.must()) {
            return "turns: " + memory.reason();
        }
        return !exclusive() && lock.queue().needsTurns() ? mode.reason(nowNs) + NOT_KEPT : mode.reason(nowNs);
    }

    /** Passes turns on to the present mode. */
    private final class ModeObserver implements TurnObserver {
        @Override
        public void turnStarted(long clientId, long nowNs) {
            mode.turnStarted(clientId, nowNs);
        }

        @Override
        public void turnEnded(long clientId, long startedNs, long nowNs) {
            mode.turnEnded(clientId, startedNs, nowNs);
        }
    }
}
