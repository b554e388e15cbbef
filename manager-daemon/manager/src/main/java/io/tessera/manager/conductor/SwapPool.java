package io.tessera.manager.conductor;

import io.tessera.memory.LimitChange;
import io.tessera.memory.QuotaAnswer;
import io.tessera.memory.QuotaDecision;
import io.tessera.memory.QuotaLedger;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The memory that all clients of plan swap may have on a device together, on it or off it: at most what the device and the backing on the host can
 * hold (SPEC.md, section 9.6). A ledger in which all clients are one tenant. One owner thread.
 *
 * <p>A client that asks for more than is left waits until others have freed some, at most {@link #WAIT_NS}.
 */
final class SwapPool {
    /** Longest wait for room; the asking client waits 2 s for its answer (SPEC.md, section 5). */
    static final long WAIT_NS = 1_000_000_000L;

    /** Interval at which waiting clients are served again: others free memory without reporting it. */
    private static final long RETRY_NS = 100_000_000L;

    /** Budgets follow the host's free memory; a smaller change is not worth a message to every client. */
    private static final long STEP_BYTES = 64L << 20;

    /** Nor is a change of less than this part of the budget, if the budget is small. */
    private static final int SMALL_PARTS = 16;

    private static final String EVERYBODY = "(all of plan swap)";

    /** A client whose request found no room. */
    record Waiting(DeviceClient member, long wantedBytes, long deadlineNs) {
    }

    final QuotaLedger ledger = new QuotaLedger();
    private final Map<DeviceUuid, Long> limits = new HashMap<>();
    private final Map<Long, Waiting> waiting = new LinkedHashMap<>();
    private long nextRetryNs = Long.MAX_VALUE;

    static boolean governs(DeviceClient member) {
        return member.session().hello().plan() == MemoryPlan.SWAP;
    }

    private static String device(DeviceClient member) {
        return member.announcement().uuid().toString();
    }

    /** Adds a client, with memory in use if it registered again. */
    LimitChange joined(DeviceClient member, long inUseBytes) {
        if (!limits.containsKey(member.announcement().uuid())) {
            // Until the first plan is made: a client does not give back memory that had no bound.
            limit(member.announcement().uuid(), member.announcement().totalBytes());
        }
        if (inUseBytes == 0) {
            ledger.join(EVERYBODY, device(member), member.clientId());
            return new LimitChange(Map.of(), List.of());
        }
        return ledger.rejoin(EVERYBODY, device(member), member.clientId(), inUseBytes);
    }

    void left(DeviceClient member) {
        ledger.leave(member.clientId());
        waiting.remove(member.clientId());
    }

    long leaseBytes(DeviceClient member) {
        return ledger.leaseBytes(member.clientId(), device(member));
    }

    /** Asks for a lease of this size; a refusal becomes a wait while the deadline is not over. */
    QuotaDecision ask(DeviceClient member, long wantedBytes, long deadlineNs, long nowNs) {
        long more = Math.max(0, wantedBytes - leaseBytes(member));
        QuotaDecision decision = ledger.ask(member.clientId(), device(member), more, deadlineNs);
        waiting.put(member.clientId(), new Waiting(member, wantedBytes, deadlineNs));
        return patient(member, decision, nowNs);
    }

    /** Returns the decision, or a wait in place of a refusal before the deadline. */
    private QuotaDecision patient(DeviceClient member, QuotaDecision decision, long nowNs) {
        Waiting ask = waiting.get(member.clientId());
        if (decision instanceof QuotaDecision.Refused && ask != null && nowNs < ask.deadlineNs()) {
            nextRetryNs = Math.min(nextRetryNs, nowNs + RETRY_NS);
            return new QuotaDecision.Trim(List.of());
        }
        if (!(decision instanceof QuotaDecision.Trim)) {
            waiting.remove(member.clientId());
        }
        return decision;
    }

    /** Returns the clients that wait for room and are to ask again now. */
    List<Waiting> due(long nowNs) {
        if (nowNs < nextRetryNs) {
            return List.of();
        }
        nextRetryNs = Long.MAX_VALUE;
        return List.copyOf(waiting.values());
    }

    /** Returns decisions on requests that had to wait for others to give back, without those that continue to wait. */
    Map<DeviceClient, QuotaDecision> decided(long nowNs) {
        Map<DeviceClient, QuotaDecision> decided = new LinkedHashMap<>();
        if (ledger.nextDeadlineNs() == Long.MAX_VALUE) {
            return decided;
        }
        for (QuotaAnswer answer : ledger.decided(nowNs)) {
            Waiting ask = waiting.get(answer.client());
            if (ask != null) {
                QuotaDecision decision = patient(ask.member(), answer.decision(), nowNs);
                if (!(decision instanceof QuotaDecision.Trim)) {
                    decided.put(ask.member(), decision);
                }
            }
        }
        return decided;
    }

    long nextDeadlineNs() {
        return Math.min(nextRetryNs, ledger.nextDeadlineNs());
    }

    /** Sets what can be leased on a device; absent if the change is too small to be reported. */
    LimitChange limit(DeviceUuid device, long bytes) {
        long known = limits.getOrDefault(device, 0L);
        boolean first = known == 0;
        if (!first && Math.abs(known - bytes) < Math.min(STEP_BYTES, known / SMALL_PARTS)) {
            return new LimitChange(Map.of(), List.of());
        }
        limits.put(device, Math.max(1, bytes));
        return ledger.limit(EVERYBODY, device.toString(), Math.max(1, bytes));
    }
}
