package io.tessera.policy;

import java.util.Comparator;

/**
 * {@code fifo}: the tenant whose oldest request has waited longest is next. Used time does not count, so long kernels get more of the device.
 */
final class FifoPolicy extends TenantPolicy<PolicyTenant> {
    FifoPolicy(PolicySettings settings) {
        super(settings, Comparator.comparingLong(tenant -> tenant.sinceNs));
    }

    @Override
    PolicyTenant newTenant(long id, TenantTerms terms, long nowNs) {
        return new PolicyTenant(id, terms);
    }

    @Override
    TurnChoice choose(long nowNs) {
        return grant(first(), quantumNs(), nowNs);
    }
}
