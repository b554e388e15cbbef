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

/** A scheduler that decides nothing: writes down what it hears and gives the orders that the test says. */
public final class RecordingScheduler implements DeviceScheduling {
    /** What it heard, in order. */
    public final List<String> heard = new ArrayList<>();
    /** Where orders go. */
    public final TurnPort port;
    /** What {@link #nextDeadlineNs} answers. */
    public long deadlineNs = Long.MAX_VALUE;
    /** What {@link #outlook} answers, by client. */
    public final Map<Long, ClientOutlook> outlooks = new HashMap<>();
    /** What the next {@link #joined} throws, once; null: nothing. */
    public RuntimeException defect;
    /** Hears first which client wants a turn, or does not any more; may throw. */
    public LongConsumer hearing = clientId -> {};
    private SchedulerMode mode = SchedulerMode.AUTO;
    private long quantumNs = 100_000_000L;
    private PolicyName policy = PolicyName.ROUND_ROBIN;
    private boolean spans;
    private OptionalLong holder = OptionalLong.empty();
    private long holderSinceNs;

    /** Over the port of the conductor. */
    public RecordingScheduler(TurnPort port) {
        this.port = port;
    }

    /** Gives an order with terms that can be told apart. */
    public void order(long clientId, long epoch, TurnState state, long nowNs) {
        if (state == TurnState.GRANTED) {
            holder = OptionalLong.of(clientId);
            holderSinceNs = nowNs;
        }
        port.order(clientId, epoch, state, new TurnTerms(epoch * 10, epoch * 20, epoch * 30, true, false));
    }

    /** What it heard since the last call. */
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

    /** Recorded when it changes: the manager says it after every coming and going. */
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
        // Said at every move: too often to be written down.
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
