package io.tessera.policy;

import java.util.Comparator;

/**
 * {@code elastic}: TReM's policy, for one device in place of several. A period is divided into slots. Interactive tenants get {@code U = ceil(slots x
 * mean time x queue / SLA)} of them, batch tenants the rest. The mean is over the finished interactive requests, the queue is the number of
 * unfinished ones, and the SLA is the smallest target of an interactive tenant. U is calculated at every period and whenever an interactive request
 * is done. Within a period interactive tenants come first. A class that has used its part up runs while the other has no work, and the excess is
 * subtracted from its next parts. Within a class tenants take turns.
 */
final class ElasticPolicy extends TenantPolicy<PolicyTenant> {
    private static final long NEVER = Long.MIN_VALUE;

    /** Position in the order: not after any batch tenant, and after all interactive ones. */
    private static final PolicyTenant FIRST_BATCH = new PolicyTenant(0, TenantTerms.DEFAULT);

    private long periodStartedNs = NEVER;
    private long slaNs = Long.MAX_VALUE;
    private int interactiveSlots;
    private long interactiveLeftNs;
    private long batchLeftNs;
    /** Mean before the first request is done: above zero, which makes one slot of any queue. */
    private double meanNs = 1;
    private long finished;
    private long queue;

    ElasticPolicy(PolicySettings settings) {
        super(settings, Comparator.<PolicyTenant>comparingInt(tenant -> tenant.terms.tenantClass().ordinal())
                .thenComparingLong(tenant -> tenant.number));
    }

    @Override
    PolicyTenant newTenant(long id, TenantTerms terms, long nowNs) {
        if (periodStartedNs == NEVER) {
            beginPeriod(nowNs);
        }
        return new PolicyTenant(id, terms);
    }

    /** Returns U: the number of slots of a period that the interactive tenants need. */
    static int slotsFor(int slots, double meanNs, long queue, long slaNs) {
        return (int) Math.min(slots, Math.ceil(slots * (meanNs * queue / slaNs)));
    }

    @Override
    public void tick(long nowNs) {
        if (periodStartedNs != NEVER && nowNs - periodStartedNs >= settings.periodNs()) {
            long periods = (nowNs - periodStartedNs) / settings.periodNs();
            beginPeriod(periodStartedNs + periods * settings.periodNs());
        }
    }

    private void beginPeriod(long startNs) {
        periodStartedNs = startNs;
        slaNs = leastTargetNs();
        interactiveSlots = currentSlots();
        interactiveLeftNs = Math.min(interactiveLeftNs, 0) + partNs(settings.periodNs(), interactiveSlots);
        batchLeftNs = Math.min(batchLeftNs, 0) + partNs(settings.periodNs(), settings.slots() - interactiveSlots);
    }

    private long partNs(long ofNs, int slots) {
        return ofNs * slots / settings.slots();
    }

    private int currentSlots() {
        return slotsFor(settings.slots(), meanNs, queue, slaNs);
    }

    private long leastTargetNs() {
        long leastNs = Long.MAX_VALUE;
        for (PolicyTenant tenant : tenants()) {
            if (tenant.terms.tenantClass() == TenantClass.INTERACTIVE) {
                leastNs = Math.min(leastNs, settings.targetNs(tenant.terms));
            }
        }
        return leastNs;
    }

    @Override
    void requestsChange(PolicyTenant tenant, int more, long nowNs) {
        queue += tenant.terms.tenantClass() == TenantClass.INTERACTIVE ? more : 0;
    }

    @Override
    public void finished(long id, long serviceNs, long nowNs) {
        tick(nowNs);
        PolicyTenant tenant = tenant(id);
        if (tenant == null || tenant.terms.tenantClass() != TenantClass.INTERACTIVE) {
            return;
        }
        finished++;
        meanNs += (serviceNs - meanNs) / finished;
        if (periodStartedNs != NEVER) {
            int more = currentSlots() - interactiveSlots;
            long movedNs = partNs(periodStartedNs + settings.periodNs() - nowNs, more);
            interactiveSlots += more;
            interactiveLeftNs += movedNs;
            batchLeftNs -= movedNs;
        }
    }

    @Override
    void used(PolicyTenant tenant, long usedNs, boolean contended, long nowNs) {
        if (tenant.terms.tenantClass() == TenantClass.INTERACTIVE) {
            interactiveLeftNs = left(interactiveLeftNs, usedNs, contended);
        } else {
            batchLeftNs = left(batchLeftNs, usedNs, contended);
        }
    }

    private static long left(long beforeNs, long usedNs, boolean contended) {
        return contended ? beforeNs - usedNs : Math.max(beforeNs - usedNs, Math.min(beforeNs, 0));
    }

    @Override
    TurnChoice choose(long nowNs) {
        PolicyTenant interactive = firstInteractive();
        PolicyTenant batch = firstFrom(FIRST_BATCH);
        boolean batchNext = interactive == null || interactiveLeftNs <= 0 && batch != null && batchLeftNs > 0;
        return batchNext ? grant(batch, lengthNs(batchLeftNs), nowNs) : grant(interactive, lengthNs(interactiveLeftNs), nowNs);
    }

    private PolicyTenant firstInteractive() {
        PolicyTenant first = first();
        return first != null && first.terms.tenantClass() == TenantClass.INTERACTIVE ? first : null;
    }

    @Override
    public boolean preempts(long running, long nowNs) {
        tick(nowNs);
        PolicyTenant holder = tenant(running);
        return holder != null && holder.terms.tenantClass() == TenantClass.BATCH && interactiveLeftNs > 0 && firstInteractive() != null;
    }

    @Override
    public long nextTickNs() {
        return periodStartedNs == NEVER || takingPart() == 0 ? Long.MAX_VALUE : periodStartedNs + settings.periodNs();
    }
}
