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
 * The queue for the turn of one device. A policy chooses the tenant; of a tenant's clients the one that has waited longest is next. A
 * tenant has as much of the device with several clients as with one.
 *
 * <p>The policy is charged for what turns take, in pieces, whenever something happens. Not thread-safe: owned by {@link TurnLock}.
 */
public final class TurnQueue {
    /** A client that had a turn within the last second is expected to ask again: the second over which fairness is promised. */
    static final long EXPECTED_NS = 1_000_000_000L;

    /** As many as the policy keeps in mind. */
    private static final int MOST_DEPARTED = 1_000;

    /** How often a turn is charged while a cap may end it: no cap is exceeded by more. */
    private static final long CAP_LOOK_NS = 10_000_000L;

    private final Map<String, TurnTenant> byName = new LinkedHashMap<>();
    /**
     * The numbers of tenants that have left, by name: a tenant that comes back has the same one, by which the policy knows what it owes to
     * its cap.
     */
    private final LinkedHashMap<String, Long> departed = new LinkedHashMap<>();
    private final Map<Long, TurnTenant> byNumber = new HashMap<>();
    private final Set<ClientTurn> waiting = new LinkedHashSet<>();
    private PolicyName name = PolicyName.ROUND_ROBIN;
    private SchedulingPolicy policy;
    private long quantumNs;
    private long tenants;

    /**
     * No turn yet since the change to turns: the policy has not heard yet which clients wait, because the order of the turns before goes
     * on.
     */
    private boolean resuming = true;

    /** The answer of {@link #needsTurns}, where it is known. */
    private boolean needsTurns;
    private boolean needsKnown;

    /** The answer of {@link #inOrder}; null: something has changed. */
    private Collection<ClientTurn> ordered;

    /** Nobody is next until then, by the policy's choice; {@link Long#MIN_VALUE}: it did not say so. */
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

    /** The policy of the next turn. */
    public PolicyName policy() {
        return name;
    }

    /** Another policy chooses from now on; the running turn goes on. */
    public void policy(PolicyName other, long nowNs) {
        if (other != name) {
            name = other;
            needsKnown = false;
            renew(nowNs);
        }
    }

    /** A policy that has seen nothing yet: debts and credit do not outlive a change of policy, nor a long time without turns. */
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

    /** What an operator set for a tenant is other from now on. */
    public void terms(String tenant, TenantTerms terms, long nowNs) {
        TurnTenant known = byName.get(tenant);
        if (known != null && !terms.equals(known.terms)) {
            known.terms = terms;
            ordered = null;
            needsKnown = false;
            policy.changed(known.number, terms, nowNs);
        }
    }

    /** Whether turns are needed to give the tenants that are here what was set for them. */
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

    /** The clients that wait: in the policy's order as far as it knows it, then in the order in which they asked. */
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
     * A client waits.
     *
     * @param holder the client that has the turn; null: none. Its time alone is charged first, since nobody wanted it.
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

    /** A turn that lasted beyond its end because nobody waited was several turns to the policy. */
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

    /** The client that gets the turn now; null: none. */
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

    /** The client that had its last turn longest ago is first. */
    private void resume(long nowNs) {
        resuming = false;
        ToLongFunction<TurnTenant> lastGrant = tenant -> tenant.clients.stream().mapToLong(client -> client.grantNumber).max().orElse(0);
        List<TurnTenant> longestAgoFirst = new ArrayList<>(byName.values());
        longestAgoFirst.sort(Comparator.comparingLong(lastGrant));
        longestAgoFirst.forEach(tenant -> tellReady(tenant, nowNs));
    }

    /** A client gets a turn that the policy did not choose, because it cannot stop. */
    void begins(ClientTurn client) {
        ordered = null;
        delayedUntilNs = Long.MIN_VALUE;
        waiting.remove(client);
        of(client).waiting.remove(client);
        of(client).running = client;
    }

    /** Charges what the client's turn has taken since it was charged last. */
    void charge(ClientTurn client, long nowNs) {
        long usedNs = client.uncharged(nowNs);
        if (usedNs > 0) {
            ordered = null;
            policy.charged(of(client).number, usedNs, nowNs);
        }
    }

    /** A client's turn is over. */
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
     * Everybody may run from now on.
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

    /** Charges the turn that goes on, if one does, and lets the policy do what is due. */
    void advance(ClientTurn holder, long nowNs) {
        if (holder != null) {
            charge(holder, nowNs);
        }
        policy.tick(nowNs);
    }

    /** Whether the holder's turn ends before its length is over: by the policy, or because of a cap. */
    boolean endsEarly(ClientTurn holder, long nowNs) {
        if (resuming || of(holder).running != holder) {
            return false;
        }
        return !waiting.isEmpty() && policy.preempts(of(holder).number, nowNs)
                || policy.isOverCap(of(holder).number, !waiting.isEmpty(), nowNs);
    }

    /** When the answers of {@link #next} and {@link #endsEarly} may change although nothing happens; {@link Long#MAX_VALUE}: never. */
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
