package io.tessera.policy;

/**
 * {@code band}: bandwidth reservation after Gdev (Kato and others, 2012), as GPUvm implemented it. It chooses the first ready tenant that has credit
 * and has had less than its part, else the first that has credit, else the first.
 *
 * <p>The device is left unused for a short time if a tenant that has had too little is done and one that has had too much would follow. The former
 * tenant's next request may be about to arrive. This delay is twice the tenant's recent gap between two requests, at most {@link
 * PolicySettings#maxDelayNs} (GPUvm: always 500 us, which is longer than many kernels are).
 */
final class BandPolicy extends CreditBook {
    private static final long NO_DELAY = Long.MIN_VALUE;

    private long delayEndsNs = NO_DELAY;

    BandPolicy(PolicySettings settings) {
        super(settings);
    }

    @Override
    long mostSavedNs(long refillNs) {
        return settings.periodNs();
    }

    @Override
    void turnEnded(CreditTenant tenant, long nowNs) {
        tenant.endedNs = nowNs;
    }

    @Override
    void becomesReady(CreditTenant tenant, long nowNs) {
        if (tenant.endedNs != Long.MIN_VALUE) {
            tenant.noteGap(nowNs - tenant.endedNs);
        }
    }

    @Override
    TurnChoice choose(long nowNs) {
        if (delayEndsNs != NO_DELAY && current != null && current.isReady()) {
            delayEndsNs = NO_DELAY;
            return turn(current, nowNs);
        }
        if (current != null && current.budgetNs < 0 && isOver(current)) {
            toTail(current);
        }
        CreditTenant next = pick();
        if (deservesDelay(next)) {
            if (delayEndsNs == NO_DELAY) {
                delayEndsNs = nowNs + delayNs(current);
            }
            if (nowNs < delayEndsNs) {
                return new TurnChoice.Delay(delayEndsNs);
            }
        }
        delayEndsNs = NO_DELAY;
        return turn(next, nowNs);
    }

    private CreditTenant pick() {
        if (anyUsed()) {
            for (CreditTenant tenant : readyTenants()) {
                if (tenant.budgetNs < 0) {
                    break;
                }
                if (!isOver(tenant)) {
                    return tenant;
                }
            }
        }
        return first();
    }

    private boolean deservesDelay(CreditTenant next) {
        return current != null && next != current && current.activity == PolicyTenant.Activity.BLOCKED && isOver(next) && !isOver(current)
                && next.usedNs > current.usedNs;
    }

    private long delayNs(CreditTenant tenant) {
        return tenant.gapNs < 0 ? settings.maxDelayNs() : Math.min(settings.maxDelayNs(), 2 * tenant.gapNs);
    }
}
