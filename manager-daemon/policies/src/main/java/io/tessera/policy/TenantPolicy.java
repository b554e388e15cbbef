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
 * What all policies have in common: the tenants, what each does, and those that are ready, in the policy's order. A policy says what the order
 * is, and what it does when something has happened.
 *
 * @param <T> what the policy remembers of a tenant
 */
abstract class TenantPolicy<T extends PolicyTenant> implements SchedulingPolicy {
    /** No turn is shorter than this part of a quantum; below it hand-overs would eat what fairness gains. */
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
     * The order may look at anything that changes inside {@link #reorder} alone; among equals the tenant that became ready first is first.
     */
    TenantPolicy(PolicySettings settings, Comparator<T> order) {
        this.settings = settings;
        this.quantumNs = settings.quantumNs();
        this.ready = new TreeSet<>(order.thenComparingLong(tenant -> tenant.number));
    }

    abstract T newTenant(long id, TenantTerms terms, long nowNs);

    /** Chooses one of those that are ready; there is at least one. */
    abstract TurnChoice choose(long nowNs);

    /** A tenant is about to become ready; {@link PolicyTenant#activity} is what it did before. */
    void becomesReady(T tenant, long nowNs) {
    }

    /** A tenant's turn has ended, whatever it does now. */
    void turnEnded(T tenant, long nowNs) {
    }

    /** A tenant's turn is cut off; what was left of it is to be made up for. Nothing to do where the order is by used time. */
    void turnInterrupted(T tenant, long nowNs) {
        turnEnded(tenant, nowNs);
    }

    /**
     * Time was charged.
     *
     * @param contended another tenant is ready; time that nobody else wanted makes no debts
     */
    void used(T tenant, long usedNs, boolean contended, long nowNs) {
    }

    /** The terms of a tenant have changed, and so have the parts of all. */
    void termsChanged(long nowNs) {
    }

    /** A tenant is gone. */
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

    /** A tenant's number of requests changes. */
    void requestsChange(T tenant, int more, long nowNs) {
    }

    /** The device has work, or has none any more. */
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

    /** Changes what the order looks at. */
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

    /** Caps are kept by {@link CappedPolicy}. */
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

    /** The tenants that are ready, in order. */
    final Collection<T> readyTenants() {
        return Collections.unmodifiableCollection(ready);
    }

    /** The first of those that are ready; null: nobody is. */
    final T first() {
        return ready.isEmpty() ? null : ready.first();
    }

    /** The first that is ready and does not come before another, which need not be ready; null: none. */
    final T firstFrom(T other) {
        return ready.ceiling(other);
    }

    /** The tenant of a number; null: there is none. */
    final T tenant(long id) {
        return tenants.get(id);
    }

    /** All tenants, in the order in which they joined. */
    final Collection<T> tenants() {
        return tenants.values();
    }

    /** A tenant's weight over that of all. */
    final double shareOfAll(T tenant) {
        return (double) tenant.terms.weight() / weights;
    }

    /** A tenant's weight over that of those who are not idle, itself included. */
    final double shareOfActive(T tenant) {
        boolean counted = tenant.activity != Activity.IDLE;
        return (double) tenant.terms.weight() / (weightsTakingPart + (counted ? 0 : tenant.terms.weight()));
    }

    /** How many tenants are not idle. */
    final int takingPart() {
        return takingPart;
    }

    /** The length of a turn of average weight. */
    final long quantumNs() {
        return quantumNs;
    }

    /** The length of a tenant's turn by its weight: exactly the quantum where weights are equal. */
    final long weightedQuantumNs(T tenant) {
        return weightsTakingPart == (long) takingPart * tenant.terms.weight() ? quantumNs
                : (long) ((double) quantumNs * takingPart * tenant.terms.weight() / weightsTakingPart);
    }

    /** A turn of what is left of an allowance: at most a quantum, at least a tenth of one. */
    final long lengthNs(long leftNs) {
        return Math.clamp(leftNs, minimumNs(quantumNs), Math.max(minimumNs(quantumNs), quantumNs));
    }

    /** The shortest turn; 0 where a turn is one request. */
    static long minimumNs(long quantumNs) {
        return quantumNs == 0 ? 0 : Math.max(1, quantumNs / MINIMUM_DIVISOR);
    }
}
