package io.tessera.manager.memory;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.DeviceTurns;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientOutlook;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.LongConsumer;

/** A scheduler that decides nothing: it records events and gives the orders that the test chooses. */
public final class RecordingScheduler implements DeviceScheduling {
    /** Events, in order. */
    public final List<String> heard = new ArrayList<>();
    /** Destination of orders. */
    public final TurnPort port;
    /** Result of {@link #nextDeadlineNs}. */
    public long deadlineNs = Long.MAX_VALUE;
    /** Results of {@link #outlook}, by client. */
    public final Map<Long, ClientOutlook> outlooks = new HashMap<>();
    /** Exception of the next {@link #joined}, thrown once; null: none. */
    public RuntimeException defect;
    /** Called first with each client that begins or ceases to want a turn; may throw. */
    public LongConsumer hearing = clientId -> {};
    private SchedulerMode mode = SchedulerMode.AUTO;
    private long quantumNs = 100_000_000L;
    private PolicyName policy = PolicyName.ROUND_ROBIN;
    private boolean spans;
    private OptionalLong holder = OptionalLong.empty();
    private long holderSinceNs;

    /** Creates a scheduler over the port of the conductor. */
    public RecordingScheduler(TurnPort port) {
        this.port = port;
    }

    /** Gives an order with terms that can be distinguished. */
    public void order(long clientId, long epoch, TurnState state, long nowNs) {
        if (state == TurnState.GRANTED) {
            holder = OptionalLong.of(clientId);
            holderSinceNs = nowNs;
        }
        port.order(clientId, epoch, state, new TurnTerms(epoch * 10, epoch * 20, epoch * 30, true, false));
    }

    /** Returns the events since the last call. */
    public List<String> heardSince() {
        List<String> since = List.copyOf(heard);
        heard.clear();
        return since;
    }

    @Override
    public void joined(long clientId, String tenant, TenantTerms terms, long nowNs) {
        RuntimeException thrown = defect;
        defect = null;
        if (thrown != null) {
            throw thrown;
        }
        heard.add("joined " + clientId);
    }

    @Override
    public void policy(PolicyName name, long nowNs) {
        policy = name;
    }

    @Override
    public PolicyName policy() {
        return policy;
    }

    @Override
    public void terms(String tenant, TenantTerms terms, long nowNs) {
        heard.add("terms of " + tenant + ": " + terms.weight());
    }

    @Override
    public void left(long clientId, long nowNs) {
        heard.add("left " + clientId);
    }

    @Override
    public void wants(long clientId, long sinceNs, long nowNs) {
        hearing.accept(clientId);
        heard.add("wants " + clientId + " " + (sinceNs == 0 ? "no" : "since " + (nowNs - sinceNs)));
    }

    @Override
    public void acknowledged(long clientId, long epoch, AckState state, long nowNs) {
        heard.add("ack " + clientId + " " + epoch + " " + state);
    }

    @Override
    public void mode(SchedulerMode newMode, long nowNs) {
        mode = newMode;
        heard.add("mode " + newMode);
    }

    /** Recorded only when it changes: the manager reports it whenever a client comes or goes. */
    @Override
    public void spans(boolean severalDevices, long nowNs) {
        if (severalDevices != spans) {
            spans = severalDevices;
            heard.add("spans " + severalDevices);
        }
    }

    @Override
    public void quantumNs(long newQuantumNs, long nowNs) {
        quantumNs = newQuantumNs;
        heard.add("quantum " + newQuantumNs);
    }

    @Override
    public void memory(MemoryVerdict verdict, long nowNs) {
        heard.add("memory " + (verdict.turns() ? "turns" : "fits"));
    }

    @Override
    public void movable(long clientId) {
        heard.add("movable " + clientId);
    }

    @Override
    public void parked(long clientId, boolean parked, long nowNs) {
        heard.add("parked " + clientId + " " + parked);
    }

    @Override
    public void idleRelease(long clientId, long ns) {
        heard.add("idle release " + clientId + " " + ns);
    }

    @Override
    public void moved(long nowNs) {
        // Called at every move: too often to be recorded.
    }

    @Override
    public ClientOutlook outlook(long clientId, long nowNs) {
        return outlooks.getOrDefault(clientId, ClientOutlook.GONE);
    }

    @Override
    public int doWork(long nowNs) {
        return 0;
    }

    @Override
    public long nextDeadlineNs() {
        return deadlineNs;
    }

    @Override
    public DeviceTurns snapshot(long nowNs) {
        return new DeviceTurns(mode, holder.isPresent(), "the test says so", policy, quantumNs, holder, holderSinceNs, 3, 4);
    }
}
