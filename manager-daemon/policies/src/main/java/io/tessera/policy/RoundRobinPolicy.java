package io.tessera.policy;

import java.util.Comparator;

/**
 * {@code round-robin}: turns in the order in which tenants became ready. Lengths are by weight, less the time by which the tenant's earlier turns
 * were too long ({@link TurnDebt}).
 */
final class RoundRobinPolicy extends TenantPolicy<IndebtedTenant> {
    RoundRobinPolicy(PolicySettings settings) {
        super(settings, Comparator.comparingLong(tenant -> tenant.number));
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
        return grant(next, next.debt.grant(weightedQuantumNs(next)), nowNs);
    }
}
