package io.tessera.policy;

import java.util.Comparator;

/**
 * What {@code credit} and {@code band} have in common, as GPUvm implemented it: used time is taken off a tenant's budget, and every period the
 * budgets get what the device has worked and idled in it, by weight. Neither counts the scheduler's own time, so it costs no credit. The
 * list of those that are ready has those with credit before those without. GPUvm wipes debts beyond a period out, so that a kernel longer
 * than a period is never paid for; here debts are kept.
 */
abstract class CreditBook extends TenantPolicy<CreditTenant> {
    private long places;
    private long busyNs;
    private long idleNs;
    /** The time that was handed out last. */
    private long previousNs;
    private long periodEndsNs = Long.MIN_VALUE;
    private boolean active;
    private long idleSinceNs;

    /** The tenant of the last turn; null: none, or it is gone. */
    CreditTenant current;

    CreditBook(PolicySettings settings) {
        super(settings, Comparator.<CreditTenant>comparingInt(tenant -> tenant.budgetNs < 0 ? 1 : 0).thenComparingLong(tenant -> tenant.place));
    }

    /** The most that is saved up of a tenant's time for a period. */
    abstract long mostSavedNs(long refillNs);

    @Override
    final CreditTenant newTenant(long id, TenantTerms terms, long nowNs) {
        CreditTenant tenant = new CreditTenant(id, terms);
        tenant.place = ++places;
        if (periodEndsNs == Long.MIN_VALUE) {
            periodEndsNs = nowNs + settings.periodNs();
            idleSinceNs = nowNs;
        }
        return tenant;
    }

    @Override
    final void removed(CreditTenant tenant) {
        current = current == tenant ? null : current;
    }

    @Override
    final void activeChanges(boolean anyActive, long nowNs) {
        if (anyActive) {
            idleNs += nowNs - idleSinceNs;
        }
        active = anyActive;
        idleSinceNs = nowNs;
    }

    @Override
    final void used(CreditTenant tenant, long usedNs, boolean contended, long nowNs) {
        busyNs += usedNs;
        tenant.usedNs += usedNs;
        long leftNs = tenant.budgetNs - usedNs;
        tenant.budgetNs = contended ? leftNs : Math.max(leftNs, Math.min(tenant.budgetNs, 0));
    }

    @Override
    public final void tick(long nowNs) {
        if (periodEndsNs == Long.MIN_VALUE || nowNs < periodEndsNs) {
            return;
        }
        if (!active) {
            idleNs += nowNs - idleSinceNs;
            idleSinceNs = nowNs;
        }
        long handedOutNs = busyNs + idleNs;
        for (CreditTenant tenant : tenants()) {
            refill(tenant, (long) (handedOutNs * shareOfAll(tenant)));
        }
        previousNs = handedOutNs;
        busyNs = 0;
        idleNs = 0;
        long periods = (nowNs - periodEndsNs) / settings.periodNs() + 1;
        periodEndsNs += periods * settings.periodNs();
    }

    private void refill(CreditTenant tenant, long refillNs) {
        long wholeNs = (long) (settings.periodNs() * shareOfAll(tenant));
        long sumNs = tenant.budgetNs + refillNs;
        boolean tooMuch = sumNs > mostSavedNs(refillNs) || busyNs == 0 && sumNs >= wholeNs;
        long budgetNs = tooMuch ? Math.min(sumNs, wholeNs) : sumNs;
        if (budgetNs < 0 == tenant.budgetNs < 0) {
            tenant.budgetNs = budgetNs; // in the same place of the order
        } else {
            reorder(tenant, () -> tenant.budgetNs = budgetNs);
        }
        tenant.usedNs = 0;
    }

    @Override
    public final long nextTickNs() {
        return periodEndsNs == Long.MIN_VALUE || !active ? Long.MAX_VALUE : periodEndsNs;
    }

    /** Whether a tenant has had more than its part, in this period or of what the last one had. */
    final boolean isOver(CreditTenant tenant) {
        double share = shareOfAll(tenant);
        return busyNs == 0 || tenant.usedNs > previousNs * share || tenant.usedNs > busyNs * share;
    }

    /** Whether anything was used in this period: without it all tenants are over. */
    final boolean anyUsed() {
        return busyNs > 0;
    }

    /** Moves a tenant to the end of the list. */
    final void toTail(CreditTenant tenant) {
        reorder(tenant, () -> tenant.place = ++places);
    }

    /** Gives a tenant its turn. */
    final TurnChoice turn(CreditTenant next, long nowNs) {
        current = next;
        return grant(next, lengthNs(next.budgetNs), nowNs);
    }
}
