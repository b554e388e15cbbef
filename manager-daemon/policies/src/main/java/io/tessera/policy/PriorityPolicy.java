package io.tessera.policy;

import java.util.Comparator;

/**
 * {@code priority}: interactive tenants before batch tenants, then by priority. A tenant rises by one priority for each ageing time that it has
 * waited, so that no tenant starves. All rise at the same rate, so the order of two waiting tenants never changes. It is the order of the times at
 * which they would have begun to wait if their priorities had been 0. The class counts as {@link #CLASS_PRIORITIES} priorities.
 */
final class PriorityPolicy extends TenantPolicy<IndebtedTenant> {
    /** Number of priorities by which an interactive tenant is above a batch tenant. */
    static final int CLASS_PRIORITIES = 10;

    PriorityPolicy(PolicySettings settings) {
        super(settings, Comparator.comparingLong(tenant -> tenant.sinceNs - level(tenant) * settings.ageingNs()));
    }

    private static long level(IndebtedTenant tenant) {
        return tenant.terms.priority() + (tenant.terms.tenantClass() == TenantClass.INTERACTIVE ? CLASS_PRIORITIES : 0);
    }

    @Override
    IndebtedTenant newTenant(long id, TenantTerms terms, long nowNs) {
        return new IndebtedTenant(id, terms);
    }

    @Override
    void used(IndebtedTenant tenant, long usedNs, boolean contended, long nowNs) {
        tenant.debt.charge(usedNs, contended);
    }

    @Override
    void turnEnded(IndebtedTenant tenant, long nowNs) {
        tenant.debt.ended();
    }

    @Override
    void turnInterrupted(IndebtedTenant tenant, long nowNs) {
        tenant.debt.interrupted();
    }

    @Override
    TurnChoice choose(long nowNs) {
        IndebtedTenant next = first();
        next.waitedNs = nowNs - next.sinceNs;
        return grant(next, next.debt.grant(quantumNs()), nowNs);
    }

    /**
     * Ends a turn for a tenant that would have been chosen in its place, if it had come in time. Two equal tenants do not end each other's turns,
     * however long they wait.
     */
    @Override
    public boolean preempts(long running, long nowNs) {
        IndebtedTenant holder = tenant(running);
        IndebtedTenant first = first();
        return holder != null && first != null && (level(first) - level(holder)) * settings.ageingNs() > holder.waitedNs;
    }
}
