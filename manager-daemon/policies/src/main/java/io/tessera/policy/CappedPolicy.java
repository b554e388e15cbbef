package io.tessera.policy;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Caps on the device's time, over any policy. A tenant with a cap has a store of time, which fills at the rate of the cap, holds half a second of it,
 * and pays for what the tenant uses. While it is empty the policy beneath believes that the tenant is idle. Under a soft cap alone it may run
 * nevertheless when nobody else is ready.
 */
final class CappedPolicy implements SchedulingPolicy {
    /** Shares are kept over half a second. */
    private static final long WINDOW_NS = 500_000_000L;

    private static final class Store {
        final long tenant;
        double hardCap;
        double softCap;
        double hardNs;
        double softNs;
        long filledNs;

        /** What the tenant said while it was withheld; 0 requests: it is not ready. */
        int requests;
        long sinceNs;

        Store(long tenant, TenantTerms terms, long nowNs) {
            this.tenant = tenant;
            filledNs = nowNs;
            hardCap = terms.hardCap();
            softCap = terms.softCap();
            hardNs = hardCap * WINDOW_NS;
            softNs = softCap * WINDOW_NS;
        }

        /** It has filled while time was used. */
        void fill(long usedNs, long nowNs) {
            hardNs = Math.min(hardCap * WINDOW_NS, hardNs + (nowNs - filledNs) * hardCap - usedNs);
            softNs = Math.min(softCap * WINDOW_NS, softNs + (nowNs - filledNs) * softCap - usedNs);
            filledNs = nowNs;
        }

        /** When it will be below no cap. */
        long fullAtNs() {
            return Math.max(whenPositive(hardNs, hardCap), whenPositive(softNs, softCap));
        }

        /** When it may run if nobody else is ready. */
        long allowedAtNs() {
            return whenPositive(hardNs, hardCap);
        }

        private long whenPositive(double leftNs, double cap) {
            return cap == 1 || leftNs > 0 ? filledNs : filledNs + (long) (-leftNs / cap) + 1;
        }
    }

    private final SchedulingPolicy policy;
    private final Map<Long, Store> stores = new HashMap<>();
    private final Set<Store> withheld = new LinkedHashSet<>();

    CappedPolicy(SchedulingPolicy policy) {
        this.policy = policy;
    }

    @Override
    public void quantumNs(long quantumNs) {
        policy.quantumNs(quantumNs);
    }

    @Override
    public void joined(long tenant, TenantTerms terms, long nowNs) {
        policy.joined(tenant, terms, nowNs);
        cap(tenant, terms, nowNs);
    }

    @Override
    public void changed(long tenant, TenantTerms terms, long nowNs) {
        policy.changed(tenant, terms, nowNs);
        cap(tenant, terms, nowNs);
    }

    private void cap(long tenant, TenantTerms terms, long nowNs) {
        Store before = stores.get(tenant);
        if (before != null && before.hardCap == terms.hardCap() && before.softCap == terms.softCap()) {
            return;
        }
        if (terms.hardCap() == 1 && terms.softCap() == 1) {
            stores.remove(tenant);
        } else {
            stores.put(tenant, new Store(tenant, terms, nowNs));
        }
        if (before != null && withheld.remove(before) && before.requests > 0) {
            ready(tenant, before.requests, before.sinceNs, nowNs);
        }
    }

    @Override
    public void left(long tenant, long nowNs) {
        forget(tenant);
        stores.remove(tenant);
        policy.left(tenant, nowNs);
    }

    private void forget(long tenant) {
        Store store = stores.get(tenant);
        if (store != null) {
            store.requests = 0;
            withheld.remove(store);
        }
    }

    @Override
    public void ready(long tenant, int requests, long sinceNs, long nowNs) {
        Store store = stores.get(tenant);
        if (store == null) {
            policy.ready(tenant, requests, sinceNs, nowNs);
            return;
        }
        store.fill(0, nowNs);
        if (store.fullAtNs() <= nowNs) {
            policy.ready(tenant, requests, sinceNs, nowNs);
            return;
        }
        store.requests = requests;
        store.sinceNs = sinceNs;
        withheld.add(store);
        policy.idle(tenant, nowNs);
    }

    @Override
    public void blocked(long tenant, long nowNs) {
        forget(tenant);
        policy.blocked(tenant, nowNs);
    }

    @Override
    public void idle(long tenant, long nowNs) {
        forget(tenant);
        policy.idle(tenant, nowNs);
    }

    @Override
    public void charged(long tenant, long usedNs, long nowNs) {
        policy.charged(tenant, usedNs, nowNs);
        Store store = stores.get(tenant);
        if (store != null) {
            store.fill(usedNs, nowNs);
        }
    }

    @Override
    public void finished(long tenant, long serviceNs, long nowNs) {
        policy.finished(tenant, serviceNs, nowNs);
    }

    @Override
    public TurnChoice next(long nowNs) {
        release(nowNs);
        TurnChoice choice = policy.next(nowNs);
        if (!(choice instanceof TurnChoice.Nobody)) {
            return choice;
        }
        for (Store store : withheld) {
            if (store.allowedAtNs() <= nowNs) {
                give(store, nowNs);
                return policy.next(nowNs);
            }
        }
        return choice;
    }

    private void release(long nowNs) {
        if (withheld.isEmpty()) {
            return;
        }
        for (Store store : Set.copyOf(withheld)) {
            store.fill(0, nowNs);
            if (store.fullAtNs() <= nowNs) {
                give(store, nowNs);
            }
        }
    }

    private void give(Store store, long nowNs) {
        withheld.remove(store);
        policy.ready(store.tenant, store.requests, store.sinceNs, nowNs);
        store.requests = 0;
    }

    @Override
    public boolean preempts(long running, long nowNs) {
        release(nowNs);
        return policy.preempts(running, nowNs);
    }

    @Override
    public boolean isOverCap(long tenant, long nowNs) {
        Store store = stores.get(tenant);
        if (store == null) {
            return false;
        }
        store.fill(0, nowNs);
        return store.fullAtNs() > nowNs;
    }

    @Override
    public void tick(long nowNs) {
        policy.tick(nowNs);
        release(nowNs);
    }

    @Override
    public long nextTickNs() {
        long nextNs = policy.nextTickNs();
        for (Store store : withheld) {
            nextNs = Math.min(nextNs, Math.min(store.fullAtNs(), store.allowedAtNs()));
        }
        return nextNs;
    }
}
