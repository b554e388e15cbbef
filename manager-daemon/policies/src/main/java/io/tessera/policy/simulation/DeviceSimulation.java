package io.tessera.policy.simulation;

import io.tessera.policy.SchedulingPolicy;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TurnChoice;
import java.util.ArrayList;
import java.util.List;

/**
 * One device that works on one request at a time, and tenants that take turns on it by a policy. A turn ends at the end of a request: when its length
 * is over and others wait, when the policy ends it, or when its tenant has had no work for the idle release. Deterministic. Not thread-safe.
 */
public final class DeviceSimulation {
    /** Time without work after which a tenant counts as idle: fairness is promised over one second. */
    private static final long IDLE_AFTER_NS = 1_000_000_000L;

    private final SchedulingTrace trace;
    private final SimulationSettings settings;
    private final SchedulingPolicy policy;
    private final RunObserver observer;
    private final List<SimulatedTenant> tenants = new ArrayList<>();
    private final EventHeap events = new EventHeap();
    private int nextSubmission;
    private long nowNs;
    /** Number of tenants with waiting work. */
    private int waiting;

    /** The tenant that has the turn; null: none. */
    private SimulatedTenant holder;
    private SimulatedTenant lastHolder;
    private long turnStartedNs;
    private long turnLengthNs;
    private long turnRequests;
    private long releaseDueNs;

    /** The request that the device works on; null: none. */
    private SimulatedRequest running;
    private long runningSinceNs;
    /** Number of the device's present work, so that the end of stopped work is not taken for that of another. */
    private long works;
    private boolean occupied;
    private long tickDueNs = Long.MAX_VALUE;
    private long lastWorkNs;
    private long handoversNs;
    private long turns;

    private DeviceSimulation(SchedulingTrace trace, SimulationSettings settings, RunObserver observer) {
        this.trace = trace;
        this.settings = settings;
        this.observer = observer;
        this.policy = settings.policy().make(settings.constants());
    }

    /**
     * Runs a trace.
     *
     * @throws IllegalArgumentException if neither the trace nor the settings have an end
     */
    public static SimulationResult run(SchedulingTrace trace, SimulationSettings settings, RunObserver observer) {
        if (settings.untilNs() == Long.MAX_VALUE && !trace.ends()) {
            throw new IllegalArgumentException("a loop of the trace has no end: say until when");
        }
        return new DeviceSimulation(trace, settings, observer).run();
    }

    private SimulationResult run() {
        for (TraceTenant tenant : trace.tenants()) {
            tenants.add(new SimulatedTenant(tenants.size(), tenant));
            policy.joined(tenants.size() - 1, tenant.terms(), 0);
        }
        for (RequestLoop loop : trace.loops()) {
            SimulatedRequest.LoopState state = new SimulatedRequest.LoopState(loop);
            for (int i = 0; i < loop.depth(); i++) {
                comesLater(state, loop.fromNs());
            }
        }
        for (TermsChange change : trace.changes()) {
            events.add(change.atNs(), () -> {
                tenants.get(change.tenant()).terms = change.terms();
                policy.changed(change.tenant(), change.terms(), nowNs);
            });
        }
        while (step()) {
            dispatch();
        }
        long endNs = settings.untilNs() == Long.MAX_VALUE ? lastWorkNs : settings.untilNs();
        return new SimulationResult(tenants.stream().map(SimulatedTenant::result).toList(), endNs, handoversNs, turns);
    }

    /** Handles all events of the next time; returns false at the end. */
    private boolean step() {
        long submissionNs = nextSubmission < trace.submissions().size() ? trace.submissions().get(nextSubmission).atNs() : Long.MAX_VALUE;
        long nextNs = Math.min(submissionNs, events.nextNs());
        if (nextNs == Long.MAX_VALUE || nextNs > settings.untilNs()) {
            return false;
        }
        nowNs = nextNs;
        while (nextSubmission < trace.submissions().size() && trace.submissions().get(nextSubmission).atNs() == nowNs) {
            TraceSubmission submission = trace.submissions().get(nextSubmission++);
            comes(tenants.get(submission.tenant()), new SimulatedRequest(nowNs, submission.lengthNs(), null));
        }
        while (events.nextNs() == nowNs) {
            events.runNext();
        }
        return true;
    }

    private void comesLater(SimulatedRequest.LoopState state, long atNs) {
        if (state.take(atNs)) {
            events.add(atNs, () -> comes(tenants.get(state.loop.tenant()), new SimulatedRequest(nowNs, state.loop.lengthNs(), state)));
        }
    }

    private void comes(SimulatedTenant tenant, SimulatedRequest request) {
        if (tenant.queue.isEmpty()) {
            waiting++;
        }
        tenant.queue.add(request);
        if (!tenant.holdsTurn) {
            tellReady(tenant);
        }
    }

    private void tellReady(SimulatedTenant tenant) {
        policy.ready(tenant.index, tenant.queue.size(), tenant.queue.peek().atNs(), nowNs);
    }

    private void dispatch() {
        if (occupied) {
            revokeIfWanted();
            return;
        }
        if (holder != null && continues()) {
            return;
        }
        switch (policy.next(nowNs)) {
            case TurnChoice.Turn turn -> begin(turn);
            case TurnChoice.Delay delay -> events.add(delay.untilNs(), () -> {});
            case TurnChoice.Nobody _ -> tickLater();
        }
    }

    /** Continues the turn, or ends it and returns false. */
    private boolean continues() {
        boolean lengthOver = turnLengthNs == 0 ? turnRequests > 0 : othersWait() && nowNs - turnStartedNs >= turnLengthNs;
        if (lengthOver || policy.preempts(holder.index, nowNs) || policy.isOverCap(holder.index, othersWait(), nowNs)) {
            endTurn();
            return false;
        }
        if (!holder.queue.isEmpty()) {
            startRequest(nowNs);
            return true;
        }
        if (nowNs - holder.emptySinceNs >= settings.idleReleaseNs()) {
            endTurn();
            return false;
        }
        long dueNs = holder.emptySinceNs + settings.idleReleaseNs();
        if (dueNs != releaseDueNs) {
            releaseDueNs = dueNs;
            events.add(dueNs, () -> {});
        }
        return true;
    }

    private boolean othersWait() {
        return waiting > (holder.queue.isEmpty() ? 0 : 1);
    }

    private void begin(TurnChoice.Turn turn) {
        turns++;
        holder = tenants.get((int) turn.tenant());
        holder.holdsTurn = true;
        turnRequests = 0;
        turnLengthNs = turn.lengthNs();
        long costNs = holder == lastHolder || lastHolder == null ? 0 : settings.handoverNs();
        lastHolder = holder;
        handoversNs += costNs;
        turnStartedNs = nowNs + costNs;
        startRequest(turnStartedNs);
    }

    private void endTurn() {
        SimulatedTenant former = holder;
        holder = null;
        former.holdsTurn = false;
        if (!former.queue.isEmpty()) {
            tellReady(former);
            return;
        }
        policy.blocked(former.index, nowNs);
        if (!former.idleCheckDue) {
            former.idleCheckDue = true;
            events.add(former.emptySinceNs + IDLE_AFTER_NS, () -> checkIdle(former));
        }
    }

    private void checkIdle(SimulatedTenant tenant) {
        tenant.idleCheckDue = false;
        if (!tenant.queue.isEmpty() || tenant.holdsTurn) {
            return;
        }
        if (nowNs - tenant.emptySinceNs >= IDLE_AFTER_NS) {
            policy.idle(tenant.index, nowNs);
        } else {
            tenant.idleCheckDue = true;
            events.add(tenant.emptySinceNs + IDLE_AFTER_NS, () -> checkIdle(tenant));
        }
    }

    private void startRequest(long startNs) {
        running = holder.queue.peek();
        runningSinceNs = startNs;
        occupy(startNs + running.lengthNs(), this::finish);
    }

    private void occupy(long untilNs, Runnable atEnd) {
        occupied = true;
        long work = ++works;
        events.add(untilNs, () -> {
            if (work == works) {
                occupied = false;
                atEnd.run();
            }
        });
    }

    private void finish() {
        SimulatedRequest done = running;
        running = null;
        lastWorkNs = nowNs;
        turnRequests++;
        observer.ran(holder.index, runningSinceNs, nowNs);
        holder.done(done, runningSinceNs, nowNs, settings.constants());
        takeFromQueue();
        policy.charged(holder.index, done.lengthNs(), nowNs);
        policy.finished(holder.index, done.lengthNs(), nowNs);
        if (done.loop() != null) {
            comesLater(done.loop(), nowNs + done.loop().loop.gapNs());
        }
    }

    private void takeFromQueue() {
        holder.queue.remove();
        if (holder.queue.isEmpty()) {
            waiting--;
            holder.emptySinceNs = nowNs;
        }
    }

    /** Stops a batch request for a tenant that has precedence, unless it would be done before it could be stopped. It stays first in its queue. */
    private void revokeIfWanted() {
        if (settings.revokeNs() < 0 || running == null || runningSinceNs > nowNs || holder.terms.tenantClass() != TenantClass.BATCH) {
            return;
        }
        if (runningSinceNs + running.lengthNs() - nowNs <= settings.revokeNs() || !policy.preempts(holder.index, nowNs)) {
            tickLater();
            return;
        }
        long ranNs = nowNs - runningSinceNs;
        running = null;
        holder.stopped(ranNs);
        occupy(nowNs + settings.revokeNs(), () -> policy.charged(holder.index, ranNs + settings.revokeNs(), nowNs));
    }

    /** Schedules a check, because the passing of time may change which tenant is next. */
    private void tickLater() {
        long dueNs = policy.nextTickNs();
        if (waiting > 0 && dueNs > nowNs && dueNs != tickDueNs && dueNs != Long.MAX_VALUE) {
            tickDueNs = dueNs;
            events.add(dueNs, () -> policy.tick(nowNs));
        }
    }
}
