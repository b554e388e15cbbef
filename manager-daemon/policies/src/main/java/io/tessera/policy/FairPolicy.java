package io.tessera.policy;

import java.util.Comparator;

/**
 * {@code fair}: weighted fair queueing. A tenant's virtual time advances by used time over weight; the tenant with the smallest is next. The virtual
 * clock is that of the tenant chosen last (start-time fair queueing, Goyal, Vin and Cheng, 1996), so a tenant that comes back begins where the others
 * are, and saves up nothing.
 *
 * <p>A tenant that was blocked begins a little before the clock: it could not use its part of the device because it waited, and at most {@link
 * PolicySettings#blockedGainNs} of that time is compensated (GLoop: 10 ms).
 *
 * <p>A turn lasts until the tenant's virtual time reaches the end of the round, in which a tenant of average weight gets a quantum. So time used
 * beyond a turn is subtracted from the next. A tenant within half a round of the end of the round counts as having reached it. Otherwise the order of
 * turns would change from round to round with the tenants that overran by a kernel, and a second could contain two turns of one tenant and none of
 * another.
 */
final class FairPolicy extends TenantPolicy<FairPolicy.VirtualTenant> {
    /** A tenant with its virtual time. */
    static final class VirtualTenant extends PolicyTenant {
        /** Used time over weight, in nanoseconds. */
        double virtualNs;

        /** The same value, or the end of the round if it is near that. */
        double orderNs;

        VirtualTenant(long id, TenantTerms terms) {
            super(id, terms);
        }
    }

    private double clockNs;
    private double roundEndsNs;
    private double roundNs;

    FairPolicy(PolicySettings settings) {
        super(settings, Comparator.comparingDouble(tenant -> tenant.orderNs));
    }

    @Override
    VirtualTenant newTenant(long id, TenantTerms terms, long nowNs) {
        VirtualTenant tenant = new VirtualTenant(id, terms);
        tenant.virtualNs = clockNs;
        return tenant;
    }

    @Override
    void becomesReady(VirtualTenant tenant, long nowNs) {
        switch (tenant.activity) {
            case IDLE -> tenant.virtualNs = Math.max(tenant.virtualNs, clockNs);
            case BLOCKED -> tenant.virtualNs = Math.max(tenant.virtualNs, clockNs - (double) settings.blockedGainNs() / tenant.terms.weight());
            case READY, RUNNING -> {}
        }
        place(tenant);
    }

    private void place(VirtualTenant tenant) {
        boolean near = Math.abs(tenant.virtualNs - roundEndsNs) <= roundNs / 2;
        tenant.orderNs = near ? roundEndsNs : tenant.virtualNs;
    }

    @Override
    void used(VirtualTenant tenant, long usedNs, boolean contended, long nowNs) {
        tenant.virtualNs += (double) usedNs / tenant.terms.weight();
        place(tenant);
    }

    @Override
    TurnChoice choose(long nowNs) {
        VirtualTenant next = first();
        clockNs = Math.max(clockNs, next.virtualNs);
        if (next.orderNs >= roundEndsNs) {
            roundNs = (double) weightedQuantumNs(next) / next.terms.weight();
            roundEndsNs = next.orderNs + roundNs;
        }
        return grant(next, lengthNs(next), nowNs);
    }

    private long lengthNs(VirtualTenant next) {
        long leftNs = Math.round((roundEndsNs - next.virtualNs) * next.terms.weight());
        return quantumNs() == 0 ? 0 : Math.max(minimumNs(quantumNs()), leftNs);
    }
}
