package io.tessera.policy;

import io.tessera.policy.PolicyTenant.Activity;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The common part of all policies: the tenants, their activities, and the ready ones in the policy's order. A policy defines the order, and its own
 * reaction to events.
 *
 * @param <T> a policy's state of a tenant
 */
abstract class TenantPolicy<T extends PolicyTenant> implements SchedulingPolicy {
    /** Shortest turn, as a divisor of the quantum; with shorter turns hand-overs would cost what fairness gains. */
    static final long MINIMUM_DIVISOR = 10;

    final PolicySettings settings;
    private final Map<Long, T> tenants = new LinkedHashMap<>();
    private final TreeSet<T> ready;
    private long quantumNs;
    private long numbers;
    private long weights;
    private int takingPart;
    private long weightsTakingPart;
    private int active;

    /**
     * The order may depend only on values that change inside {@link #reorder}; among equals the tenant that became ready first is first.
     */
    TenantPolicy(PolicySettings settings, Comparator<T> order) {
        this.settings = settings;
        this.quantumNs = settings.quantumNs();
        this.ready = new TreeSet<>(order.thenComparingLong(tenant -> tenant.number));
    }

    abstract T newTenant(long id, TenantTerms terms, long nowNs);

    /** Chooses one of the ready tenants; there is at least one. */
    abstract TurnChoice choose(long nowNs);

    /** Called before a tenant becomes ready; {@link PolicyTenant#activity} is its former activity. */
    void becomesReady(T tenant, long nowNs) {
    }

    /** Called when a tenant's turn has ended, whatever it does now. */
    void turnEnded(T tenant, long nowNs) {
    }

    /** Called when a tenant's turn is cut off; the rest of it is to be compensated. A policy that orders by used time has nothing to do. */
    void turnInterrupted(T tenant, long nowNs) {
        turnEnded(tenant, nowNs);
    }

    /**
     * Called when time was charged.
     *
     * @param contended another tenant is ready; time without competition makes no debts
     */
    void used(T tenant, long usedNs, boolean contended, long nowNs) {
    }

    /** Called when the terms of a tenant have changed, and so have the parts of all. */
    void termsChanged(long nowNs) {
    }

    /** Called when a tenant is gone. */
    void removed(T tenant) {
    }

    @Override
    public final void quantumNs(long ns) {
        if (ns < 0) {
            throw new IllegalArgumentException("quantum of " + ns + " ns: must not be negative");
        }
        quantumNs = ns;
    }

    @Override
    public final void joined(long id, TenantTerms terms, long nowNs) {
        tick(nowNs);
        if (tenants.containsKey(id)) {
            changed(id, terms, nowNs);
            return;
        }
        weights += terms.weight();
        T tenant = newTenant(id, terms, nowNs);
        tenant.number = ++numbers;
        tenants.put(id, tenant);
    }

    @Override
    public final void changed(long id, TenantTerms terms, long nowNs) {
        tick(nowNs);
        T tenant = tenants.get(id);
        if (tenant == null) {
            return;
        }
        int more = terms.weight() - tenant.terms.weight();
        weights += more;
        weightsTakingPart += tenant.activity == Activity.IDLE ? 0 : more;
        requestsChange(tenant, -tenant.requests, nowNs);
        reorder(tenant, () -> tenant.terms = terms);
        requestsChange(tenant, tenant.requests, nowNs);
        termsChanged(nowNs);
    }

    @Override
    public final void left(long id, long nowNs) {
        tick(nowNs);
        T tenant = tenants.get(id);
        if (tenant == null) {
            return;
        }
        become(tenant, Activity.IDLE, 0, nowNs);
        tenants.remove(id);
        weights -= tenant.terms.weight();
        removed(tenant);
    }

    @Override
    public final void ready(long id, int requests, long sinceNs, long nowNs) {
        if (requests < 1) {
            throw new IllegalArgumentException("ready with " + requests + " requests");
        }
        tick(nowNs);
        T tenant = tenants.get(id);
        if (tenant == null) {
            return;
        }
        if (tenant.isReady()) {
            requestsChange(tenant, requests - tenant.requests, nowNs);
            reorder(tenant, () -> {
                tenant.requests = requests;
                tenant.sinceNs = sinceNs;
            });
            return;
        }
        if (tenant.activity == Activity.RUNNING) {
            turnEnded(tenant, nowNs);
        }
        tenant.number = ++numbers;
        tenant.sinceNs = sinceNs;
        becomesReady(tenant, nowNs);
        become(tenant, Activity.READY, requests, nowNs);
    }

    @Override
    public final void blocked(long id, long nowNs) {
        stops(id, Activity.BLOCKED, nowNs);
    }

    @Override
    public final void idle(long id, long nowNs) {
        stops(id, Activity.IDLE, nowNs);
    }

    @Override
    public final void interrupted(long id, long nowNs) {
        tick(nowNs);
        T tenant = tenants.get(id);
        if (tenant == null) {
            return;
        }
        if (tenant.activity == Activity.RUNNING) {
            turnInterrupted(tenant, nowNs);
        }
        become(tenant, Activity.IDLE, 0, nowNs);
    }

    private void stops(long id, Activity activity, long nowNs) {
        tick(nowNs);
        T tenant = tenants.get(id);
        if (tenant == null) {
            return;
        }
        if (tenant.activity == Activity.RUNNING) {
            turnEnded(tenant, nowNs);
        }
        become(tenant, activity, 0, nowNs);
    }

    /** Called when a tenant's number of requests changes. */
    void requestsChange(T tenant, int more, long nowNs) {
    }

    /** Called when the device has work, or has none any more. */
    void activeChanges(boolean anyActive, long nowNs) {
    }

    private void become(T tenant, Activity activity, int requests, long nowNs) {
        Activity before = tenant.activity;
        if (before == Activity.READY) {
            ready.remove(tenant);
        }
        requestsChange(tenant, requests - tenant.requests, nowNs);
        tenant.activity = activity;
        tenant.requests = requests;
        int part = (activity == Activity.IDLE ? 0 : 1) - (before == Activity.IDLE ? 0 : 1);
        takingPart += part;
        weightsTakingPart += (long) part * tenant.terms.weight();
        int more = isActive(activity) - isActive(before);
        active += more;
        if (more != 0 && active == Math.max(0, more)) {
            activeChanges(active > 0, nowNs);
        }
        if (activity == Activity.READY) {
            ready.add(tenant);
        }
    }

    private static int isActive(Activity activity) {
        return activity == Activity.READY || activity == Activity.RUNNING ? 1 : 0;
    }

    @Override
    public final void charged(long id, long usedNs, long nowNs) {
        tick(nowNs);
        T tenant = tenants.get(id);
        if (tenant != null) {
            boolean contended = ready.size() > (tenant.isReady() ? 1 : 0);
            reorder(tenant, () -> used(tenant, usedNs, contended, nowNs));
        }
    }

    @Override
    public void finished(long id, long serviceNs, long nowNs) {
        tick(nowNs);
    }

    @Override
    public final TurnChoice next(long nowNs) {
        tick(nowNs);
        return ready.isEmpty() ? TurnChoice.NOBODY : choose(nowNs);
    }

    /** Gives a ready tenant its turn. */
    final TurnChoice grant(T tenant, long lengthNs, long nowNs) {
        become(tenant, Activity.RUNNING, tenant.requests, nowNs);
        return new TurnChoice.Turn(tenant.id, lengthNs);
    }

    /** Changes values on which the order depends. */
    final void reorder(T tenant, Runnable change) {
        boolean was = tenant.isReady() && ready.remove(tenant);
        change.run();
        if (was) {
            ready.add(tenant);
        }
    }

    @Override
    public boolean preempts(long running, long nowNs) {
        return false;
    }

    /** Returns false: {@link CappedPolicy} enforces caps. */
    @Override
    public final boolean isOverCap(long id, boolean contended, long nowNs) {
        return false;
    }

    @Override
    public final List<Long> order() {
        return ready.stream().map(tenant -> tenant.id).toList();
    }

    @Override
    public void tick(long nowNs) {
    }

    @Override
    public long nextTickNs() {
        return Long.MAX_VALUE;
    }

    /** Returns the ready tenants, in order. */
    final Collection<T> readyTenants() {
        return Collections.unmodifiableCollection(ready);
    }

    /** Returns the first ready tenant; null: there is none. */
    final T first() {
        return ready.isEmpty() ? null : ready.first();
    }

    /** Returns the first ready tenant that does not come before another, which need not be ready; null: none. */
    final T firstFrom(T other) {
        return ready.ceiling(other);
    }

    /** Returns the tenant with a number; null: there is none. */
    final T tenant(long id) {
        return tenants.get(id);
    }

    /** Returns all tenants, in the order in which they joined. */
    final Collection<T> tenants() {
        return tenants.values();
    }

    /** Returns a tenant's weight over that of all. */
    final double shareOfAll(T tenant) {
        return (double) tenant.terms.weight() / weights;
    }

    /** Returns a tenant's weight over that of all that are not idle, itself included. */
    final double shareOfActive(T tenant) {
        boolean counted = tenant.activity != Activity.IDLE;
        return (double) tenant.terms.weight() / (weightsTakingPart + (counted ? 0 : tenant.terms.weight()));
    }

    /** Returns the number of tenants that are not idle. */
    final int takingPart() {
        return takingPart;
    }

    /** Returns the length of a turn of average weight. */
    final long quantumNs() {
        return quantumNs;
    }

    /** Returns the length of a tenant's turn by its weight: exactly the quantum if weights are equal. */
    final long weightedQuantumNs(T tenant) {
        return weightsTakingPart == (long) takingPart * tenant.terms.weight() ? quantumNs
                : (long) ((double) quantumNs * takingPart * tenant.terms.weight() / weightsTakingPart);
    }

    /** Returns the length of a turn for the rest of an allowance: at most a quantum, at least a tenth of one. */
    final long lengthNs(long leftNs) {
        return Math.clamp(leftNs, minimumNs(quantumNs), Math.max(minimumNs(quantumNs), quantumNs));
    }

    /** Returns the shortest turn; 0 if a turn is one request. */
    static long minimumNs(long quantumNs) {
        return quantumNs == 0 ? 0 : Math.max(1, quantumNs / MINIMUM_DIVISOR);
    }
}
