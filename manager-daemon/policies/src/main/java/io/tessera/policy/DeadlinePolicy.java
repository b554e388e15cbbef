package io.tessera.policy;

import java.util.Comparator;

/**
 * {@code deadline}: the earliest deadline is next. Each tenant is a constant bandwidth server (Abeni and Buttazzo, 1998): of each period of its
 * target's length it may use its part by weight. Each time that a tenant has used its part up, its deadline is postponed by a period. So a tenant
 * that wants more than its part makes no other tenant late.
 */
final class DeadlinePolicy extends TenantPolicy<DeadlinePolicy.Server> {
    /** A tenant with budget and deadline. */
    static final class Server extends PolicyTenant {
        long budgetNs;
        long deadlineNs = Long.MIN_VALUE;

        Server(long id, TenantTerms terms) {
            super(id, terms);
        }
    }

    DeadlinePolicy(PolicySettings settings) {
        super(settings, Comparator.comparingLong(tenant -> tenant.deadlineNs));
    }

    @Override
    Server newTenant(long id, TenantTerms terms, long nowNs) {
        return new Server(id, terms);
    }

    @Override
    void becomesReady(Server tenant, long nowNs) {
        if (tenant.activity == PolicyTenant.Activity.RUNNING || tenant.deadlineNs > nowNs && affordable(tenant, nowNs)) {
            return;
        }
        tenant.deadlineNs = nowNs + settings.targetNs(tenant.terms);
        tenant.budgetNs = fullNs(tenant);
    }

    /** Returns whether the remaining budget until the deadline is at most the tenant's part of that time. */
    private boolean affordable(Server tenant, long nowNs) {
        return tenant.budgetNs < (tenant.deadlineNs - nowNs) * shareOfActive(tenant);
    }

    private long fullNs(Server tenant) {
        return Math.max(1, (long) (settings.targetNs(tenant.terms) * shareOfActive(tenant)));
    }

    @Override
    void used(Server tenant, long usedNs, boolean contended, long nowNs) {
        tenant.budgetNs -= usedNs;
        if (tenant.budgetNs > 0) {
            return;
        }
        if (!contended) {
            // The tenant did not have to wait: a new period begins, without a debt.
            tenant.deadlineNs = Math.max(tenant.deadlineNs, nowNs + settings.targetNs(tenant.terms));
            tenant.budgetNs = fullNs(tenant);
            return;
        }
        long fullNs = fullNs(tenant);
        long periods = -tenant.budgetNs / fullNs + 1;
        tenant.budgetNs += periods * fullNs;
        tenant.deadlineNs += periods * settings.targetNs(tenant.terms);
    }

    /**
     * Begins a period for tenants whose deadline is more than one period away: the parts by which it was postponed no longer hold, and it may be days
     * away.
     */
    @Override
    void termsChanged(long nowNs) {
        for (Server tenant : tenants()) {
            long latestNs = nowNs + settings.targetNs(tenant.terms);
            if (tenant.deadlineNs > latestNs) {
                reorder(tenant, () -> {
                    tenant.deadlineNs = latestNs;
                    tenant.budgetNs = Math.min(tenant.budgetNs, fullNs(tenant));
                });
            }
        }
    }

    @Override
    TurnChoice choose(long nowNs) {
        Server next = first();
        next.budgetNs = Math.min(next.budgetNs, fullNs(next)); // others may have come since it was filled
        return grant(next, lengthNs(next.budgetNs), nowNs);
    }

    @Override
    public boolean preempts(long running, long nowNs) {
        Server holder = tenant(running);
        Server first = first();
        return holder != null && first != null && first.deadlineNs < holder.deadlineNs;
    }
}
