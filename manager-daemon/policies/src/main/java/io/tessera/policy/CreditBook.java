package io.tessera.policy;

import java.util.Comparator;

/**
 * The common part of {@code credit} and {@code band}, as GPUvm implemented it: used time is subtracted from a tenant's budget, and in every period
 * the time in which the device worked or was idle is added to the budgets, by weight. The scheduler's own time is in neither, so it costs no credit.
 * In the list of ready tenants, those with credit precede those without. GPUvm drops debts beyond a period, so a kernel longer than a period is never
 * paid for; here debts are kept.
 */
abstract class CreditBook extends TenantPolicy<CreditTenant> {
    private long places;
    private long busyNs;
    private long idleNs;
    /** The amount of time that was handed out last. */
    private long previousNs;
    private long periodEndsNs = Long.MIN_VALUE;
    private boolean active;
    private long idleSinceNs;

    /** The tenant of the last turn; null: none, or it is gone. */
    CreditTenant current;

    CreditBook(PolicySettings settings) {
        super(settings, Comparator.<CreditTenant>comparingInt(tenant -> tenant.budgetNs < 0 ? 1 : 0).thenComparingLong(tenant -> tenant.place));
    }

    /** Returns the maximum of a tenant's saved time after a period. */
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
            tenant.budgetNs = budgetNs; // its place in the order does not change
        } else {
            reorder(tenant, () -> tenant.budgetNs = budgetNs);
        }
        tenant.usedNs = 0;
    }

    @Override
    public final long nextTickNs() {
        return periodEndsNs == Long.MIN_VALUE || !active ? Long.MAX_VALUE : periodEndsNs;
    }

    /** Returns whether a tenant has had more than its part, of this period or of what the last one handed out. */
    final boolean isOver(CreditTenant tenant) {
        double share = shareOfAll(tenant);
        return busyNs == 0 || tenant.usedNs > previousNs * share || tenant.usedNs > busyNs * share;
    }

    /** Returns whether anything was used in this period; otherwise all tenants count as over. */
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
