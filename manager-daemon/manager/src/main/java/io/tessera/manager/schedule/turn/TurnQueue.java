package io.tessera.manager.schedule.turn;

import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicySettings;
import io.tessera.policy.SchedulingPolicy;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TurnChoice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * The queue for the turn of one device. A policy chooses the tenant; of a tenant's clients the one that has waited longest is next. A tenant's part
 * of the device does not depend on its number of clients.
 *
 * <p>The policy is charged for what turns take, in pieces, whenever something happens. Not thread-safe: owned by {@link TurnLock}.
 */
public final class TurnQueue {
    /** A client that had a turn within this time is expected to ask again: fairness is promised over one second. */
    static final long EXPECTED_NS = 1_000_000_000L;

    /** Maximum number of tenants that have left and are kept: as many as the policy keeps. */
    private static final int MOST_DEPARTED = 1_000;

    /** Interval at which a turn is charged while a cap may end it: no cap is exceeded by more. */
    private static final long CAP_LOOK_NS = 10_000_000L;

    private final Map<String, TurnTenant> byName = new LinkedHashMap<>();
    /**
     * The numbers of tenants that have left, by name. A tenant that comes back has the same number, by which the policy knows its debt to its cap.
     */
    private final LinkedHashMap<String, Long> departed = new LinkedHashMap<>();
    private final Map<Long, TurnTenant> byNumber = new HashMap<>();
    private final Set<ClientTurn> waiting = new LinkedHashSet<>();
    private PolicyName name = PolicyName.ROUND_ROBIN;
    private SchedulingPolicy policy;
    private long quantumNs;
    private long tenants;

    /**
     * Whether there was no turn yet since the change to turns: the policy does not know yet which clients wait, because the former order of turns
     * continues.
     */
    private boolean resuming = true;

    /** The answer of {@link #needsTurns}, if it is known. */
    private boolean needsTurns;
    private boolean needsKnown;

    /** The answer of {@link #inOrder}; null: something has changed. */
    private Collection<ClientTurn> ordered;

    /** Time until which the policy chose that no client is next; {@link Long#MIN_VALUE}: it made no such choice. */
    private long delayedUntilNs = Long.MIN_VALUE;

    /** The next client, and the length of its turn. */
    record Next(ClientTurn client, long lengthNs) {
    }

    TurnQueue(long quantumNs) {
        this.quantumNs = quantumNs;
        this.policy = newPolicy();
    }

    private SchedulingPolicy newPolicy() {
        return name.make(PolicySettings.TURNS.withQuantumNs(quantumNs));
    }

    // Settings

    /** Returns the policy of the next turn. */
    public PolicyName policy() {
        return name;
    }

    /** Makes another policy choose from now on; the running turn continues. */
    public void policy(PolicyName other, long nowNs) {
        if (other != name) {
            name = other;
            needsKnown = false;
            renew(nowNs);
        }
    }

    /** Creates the policy again: debts and credit end with a change of policy, and with a long time without turns. */
    void renew(long nowNs) {
        policy = newPolicy();
        delayedUntilNs = Long.MIN_VALUE;
        ordered = null;
        for (TurnTenant tenant : byName.values()) {
            tenant.expected = false;
            policy.joined(tenant.number, tenant.terms, nowNs);
            if (!resuming && tenant.running == null) {
                tellReady(tenant, nowNs);
            }
        }
    }

    void quantumNs(long ns) {
        if (ns != quantumNs) {
            quantumNs = ns;
            policy.quantumNs(ns);
        }
    }

    /** Sets an operator's changed settings of a tenant. */
    public void terms(String tenant, TenantTerms terms, long nowNs) {
        TurnTenant known = byName.get(tenant);
        if (known != null && !terms.equals(known.terms)) {
            known.terms = terms;
            ordered = null;
            needsKnown = false;
            policy.changed(known.number, terms, nowNs);
        }
    }

    /** Returns whether turns are needed to give the present tenants what was set for them. */
    public boolean needsTurns() {
        if (!needsKnown) {
            needsTurns = termsNeedTurns();
            needsKnown = true;
        }
        return needsTurns;
    }

    private boolean termsNeedTurns() {
        TenantTerms first = null;
        for (TurnTenant tenant : byName.values()) {
            TenantTerms terms = tenant.terms;
            if (terms.hardCap() < 1 || terms.softCap() < 1 && byName.size() > 1 || first != null && !name.treatsAlike(first, terms)) {
                return true;
            }
            first = terms;
        }
        return false;
    }

    // Clients

    ClientTurn joined(long clientId, String tenantName, TenantTerms terms, long nowNs) {
        TurnTenant tenant = byName.computeIfAbsent(tenantName, absent -> {
            Long before = departed.remove(tenantName);
            TurnTenant made = new TurnTenant(before == null ? ++tenants : before, tenantName, terms);
            byNumber.put(made.number, made);
            needsKnown = false;
            policy.joined(made.number, terms, nowNs);
            return made;
        });
        ClientTurn client = new ClientTurn(clientId, tenant.number);
        tenant.clients.add(client);
        return client;
    }

    void left(ClientTurn client, long nowNs) {
        remove(client, nowNs);
        ended(client, nowNs);
        TurnTenant tenant = of(client);
        tenant.clients.remove(client);
        if (tenant.clients.isEmpty()) {
            byName.remove(tenant.name);
            needsKnown = false;
            byNumber.remove(tenant.number);
            departed.put(tenant.name, tenant.number);
            if (departed.size() > MOST_DEPARTED) {
                departed.pollFirstEntry();
            }
            policy.left(tenant.number, nowNs);
        }
    }

    private TurnTenant of(ClientTurn client) {
        return byNumber.get(client.tenant);
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns the waiting clients: in the policy's order as far as it knows it, then in the order in which they asked. */
    Collection<ClientTurn> inOrder() {
        if (ordered == null) {
            Set<ClientTurn> clients = new LinkedHashSet<>();
            for (long tenant : policy.order()) {
                byNumber.get(tenant).waiting.stream().findFirst().ifPresent(clients::add);
            }
            clients.addAll(waiting);
            ordered = List.copyOf(clients);
        }
        return ordered;
    }

    /**
     * Adds a client that waits.
     *
     * @param holder the client that has the turn; null: none. Its time without competition is charged first.
     */
    void add(ClientTurn client, ClientTurn holder, long nowNs) {
        if (!waiting.add(client)) {
            return;
        }
        ordered = null;
        if (holder != null && waiting.size() == 1) {
            chargeAlone(holder, nowNs);
        }
        of(client).waiting.add(client);
        if (!resuming && of(client).running == null) {
            tellReady(of(client), nowNs);
        }
    }

    /** Charges a turn that lasted beyond its end because no client waited: to the policy it was several turns. */
    private void chargeAlone(ClientTurn holder, long nowNs) {
        charge(holder, nowNs);
        if (of(holder).running == holder && nowNs > holder.grantedAtNs + holder.lengthNs) {
            policy.ready(of(holder).number, 1, nowNs, nowNs);
            policy.next(nowNs);
        }
    }

    void remove(ClientTurn client, long nowNs) {
        if (waiting.remove(client)) {
            ordered = null;
            TurnTenant tenant = of(client);
            tenant.waiting.remove(client);
            if (tenant.waiting.isEmpty() && tenant.running == null && !resuming) {
                stops(tenant, nowNs);
            }
        }
    }

    private void tellReady(TurnTenant tenant, long nowNs) {
        if (!tenant.waiting.isEmpty()) {
            long sinceNs = tenant.waiting.stream().mapToLong(client -> client.wantSinceNs).min().orElse(nowNs);
            tenant.expected = false;
            policy.ready(tenant.number, tenant.waiting.size(), Math.min(sinceNs, nowNs), nowNs);
        }
    }

    private void stops(TurnTenant tenant, long nowNs) {
        tenant.stoppedNs = nowNs;
        tenant.expected = true;
        policy.blocked(tenant.number, nowNs);
    }

    // Turns

    /** Returns the client that gets the turn now; null: none. */
    Next next(long nowNs) {
        if (resuming) {
            resume(nowNs);
        }
        for (TurnTenant tenant : byName.values()) {
            if (tenant.expected && nowNs - tenant.stoppedNs >= EXPECTED_NS) {
                tenant.expected = false;
                policy.idle(tenant.number, nowNs);
            }
        }
        delayedUntilNs = Long.MIN_VALUE;
        return switch (policy.next(nowNs)) {
            case TurnChoice.Turn turn -> {
                TurnTenant tenant = byNumber.get(turn.tenant());
                ClientTurn client = tenant.waiting.iterator().next();
                begins(client);
                yield new Next(client, turn.lengthNs());
            }
            case TurnChoice.Delay delay -> {
                delayedUntilNs = delay.untilNs();
                yield null;
            }
            case TurnChoice.Nobody nobody -> null;
        };
    }

    /** Puts the client first that had its last turn longest ago. */
    private void resume(long nowNs) {
        resuming = false;
        ToLongFunction<TurnTenant> lastGrant = tenant -> tenant.clients.stream().mapToLong(client -> client.grantNumber).max().orElse(0);
        List<TurnTenant> longestAgoFirst = new ArrayList<>(byName.values());
        longestAgoFirst.sort(Comparator.comparingLong(lastGrant));
        longestAgoFirst.forEach(tenant -> tellReady(tenant, nowNs));
    }

    /** Records a turn that the policy did not choose, of a client that cannot stop. */
    void begins(ClientTurn client) {
        ordered = null;
        delayedUntilNs = Long.MIN_VALUE;
        waiting.remove(client);
        of(client).waiting.remove(client);
        of(client).running = client;
    }

    /** Charges the part of the client's turn that was not charged before. */
    void charge(ClientTurn client, long nowNs) {
        long usedNs = client.uncharged(nowNs);
        if (usedNs > 0) {
            ordered = null;
            policy.charged(of(client).number, usedNs, nowNs);
        }
    }

    /** Records the end of a client's turn. */
    void ended(ClientTurn client, long nowNs) {
        charge(client, nowNs);
        TurnTenant tenant = of(client);
        if (tenant.running != client) {
            return;
        }
        ordered = null;
        tenant.running = null;
        if (tenant.waiting.isEmpty() || resuming) {
            stops(tenant, nowNs);
        } else {
            tellReady(tenant, nowNs);
        }
    }

    /**
     * Suspends turns: all clients may run from now on.
     *
     * @param holder the client that had the turn, and continues it later; null: none
     */
    void suspend(ClientTurn holder, long nowNs) {
        boolean cutOff = holder != null && !waiting.isEmpty();
        ordered = null;
        waiting.clear();
        for (TurnTenant tenant : byName.values()) {
            tenant.waiting.clear();
            if (tenant.running != null) {
                charge(tenant.running, nowNs);
            }
            if (cutOff && tenant.running == holder) {
                policy.interrupted(tenant.number, nowNs);
            } else {
                policy.idle(tenant.number, nowNs);
            }
            tenant.running = null;
            tenant.expected = false;
        }
        resuming = true;
    }

    /** Charges the running turn, if there is one, and lets the policy do the work that is due. */
    void advance(ClientTurn holder, long nowNs) {
        if (holder != null) {
            charge(holder, nowNs);
        }
        policy.tick(nowNs);
    }

    /** Returns whether the holder's turn ends before its length is over: by the policy, or because of a cap. */
    boolean endsEarly(ClientTurn holder, long nowNs) {
        if (resuming || of(holder).running != holder) {
            return false;
        }
        return !waiting.isEmpty() && policy.preempts(of(holder).number, nowNs)
                || policy.isOverCap(of(holder).number, !waiting.isEmpty(), nowNs);
    }

    /** Returns when the answers of {@link #next} and {@link #endsEarly} may change without an event; {@link Long#MAX_VALUE}: never. */
    long nextDeadlineNs(ClientTurn holder) {
        long deadlineNs = Long.MAX_VALUE;
        if (!waiting.isEmpty() && !resuming) {
            deadlineNs = delayedUntilNs == Long.MIN_VALUE ? policy.nextTickNs() : delayedUntilNs;
        }
        if (holder != null && (of(holder).terms.hardCap() < 1 || of(holder).terms.softCap() < 1 && !waiting.isEmpty())) {
            deadlineNs = Math.min(deadlineNs, holder.chargedUntilNs + CAP_LOOK_NS);
        }
        return deadlineNs;
    }
}
