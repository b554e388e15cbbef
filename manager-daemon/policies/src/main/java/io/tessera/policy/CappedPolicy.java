package io.tessera.policy;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Caps on the device's time, over any policy. A tenant with a cap has a store of time, which fills at the rate of the cap, holds half a second of it,
 * and pays for what the tenant uses. While it is empty, the underlying policy sees the tenant as idle. With a soft cap alone the tenant may still run
 * when no other is ready, and then owes at most one full store.
 *
 * <p>The store of a tenant that leaves is kept for {@value #KEPT_MINUTES} minutes: a tenant with the same number and caps continues with it.
 * Otherwise short processes in sequence would each begin with a full store.
 *
 * <p>A store that was empty counts as filled when it holds a tenth of a quantum. Otherwise turns would become as short as the time between two
 * checks.
 */
final class CappedPolicy implements SchedulingPolicy {
    /** Time over which caps hold: half a second. */
    private static final long WINDOW_NS = 500_000_000L;

    /** Time for which stores are kept: a kernel of some seconds is paid off by then under any cap that is not tiny. */
    static final int KEPT_MINUTES = 10;

    private static final long KEPT_NS = KEPT_MINUTES * 60_000_000_000L;

    /** Maximum number of tenants that have left; the one that left longest ago is removed first. */
    static final int MOST_DEPARTED = 1_000;

    private static final class Store {
        final long tenant;
        double hardCap;
        double softCap;
        double hardNs;
        double softNs;
        long filledNs;

        /** The tenant's last report while it was withheld; 0 requests: it is not ready. */
        int requests;
        long sinceNs;

        /** Time at which it left, if it has. */
        long leftNs;

        Store(long tenant, TenantTerms terms, long nowNs) {
            this.tenant = tenant;
            filledNs = nowNs;
            hardCap = terms.hardCap();
            softCap = terms.softCap();
            hardNs = hardCap * WINDOW_NS;
            softNs = softCap * WINDOW_NS;
        }

        boolean hasCapsOf(TenantTerms terms) {
            return hardCap == terms.hardCap() && softCap == terms.softCap();
        }

        /** Fills the store for the time that has passed, during which time was used. */
        void fill(long usedNs, long nowNs) {
            hardNs = Math.min(hardCap * WINDOW_NS, hardNs + (nowNs - filledNs) * hardCap - usedNs);
            double fullNs = softCap * WINDOW_NS;
            softNs = Math.clamp(softNs + (nowNs - filledNs) * softCap - usedNs, -fullNs, fullNs);
            filledNs = nowNs;
        }

        boolean isEmpty(boolean contended) {
            return hardCap < 1 && hardNs <= 0 || contended && softCap < 1 && softNs <= 0;
        }

        /** Returns when it may run, even if others are ready. */
        long fullAtNs(long quantumNs) {
            return Math.max(filledAtNs(hardNs, hardCap, quantumNs), filledAtNs(softNs, softCap, quantumNs));
        }

        /** Returns when it may run if no other is ready. */
        long allowedAtNs(long quantumNs) {
            return filledAtNs(hardNs, hardCap, quantumNs);
        }

        private long filledAtNs(double leftNs, double cap, long quantumNs) {
            double enoughNs = Math.min(TenantPolicy.minimumNs(quantumNs), cap * WINDOW_NS);
            return cap == 1 || leftNs > 0 && leftNs >= enoughNs ? filledNs : filledNs + (long) ((enoughNs - leftNs) / cap) + 1;
        }
    }

    private final SchedulingPolicy policy;
    private final Map<Long, Store> stores = new HashMap<>();
    /** The tenants that have left, in the order in which they left. */
    private final Map<Long, Store> departed = new LinkedHashMap<>();
    private final Set<Store> withheld = new LinkedHashSet<>();
    private long quantumNs;

    /** Time of the last call of {@link #next} or {@link #tick}. */
    private long askedNs = Long.MIN_VALUE;

    CappedPolicy(SchedulingPolicy policy, long quantumNs) {
        this.policy = policy;
        this.quantumNs = quantumNs;
    }

    @Override
    public void quantumNs(long ns) {
        policy.quantumNs(ns);
        quantumNs = ns;
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
        if (before != null && before.hasCapsOf(terms)) {
            return;
        }
        if (terms.hardCap() == 1 && terms.softCap() == 1) {
            stores.remove(tenant);
        } else {
            forgetDeparted(nowNs);
            Store kept = departed.remove(tenant);
            stores.put(tenant, kept != null && kept.hasCapsOf(terms) ? kept : new Store(tenant, terms, nowNs));
        }
        if (before != null && withheld.remove(before) && before.requests > 0) {
            ready(tenant, before.requests, before.sinceNs, nowNs);
        }
    }

    @Override
    public void left(long tenant, long nowNs) {
        forget(tenant);
        Store store = stores.remove(tenant);
        if (store != null) {
            store.leftNs = nowNs;
            departed.put(tenant, store);
            forgetDeparted(nowNs);
        }
        policy.left(tenant, nowNs);
    }

    private void forgetDeparted(long nowNs) {
        Iterator<Store> oldestFirst = departed.values().iterator();
        while (oldestFirst.hasNext() && (nowNs - oldestFirst.next().leftNs > KEPT_NS || departed.size() > MOST_DEPARTED)) {
            oldestFirst.remove();
        }
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
        if (store.fullAtNs(quantumNs) <= nowNs) {
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
    public void interrupted(long tenant, long nowNs) {
        forget(tenant);
        policy.interrupted(tenant, nowNs);
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
        askedNs = nowNs;
        release(nowNs);
        TurnChoice choice = policy.next(nowNs);
        if (!(choice instanceof TurnChoice.Nobody)) {
            return choice;
        }
        for (Store store : withheld) {
            if (store.allowedAtNs(quantumNs) <= nowNs) {
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
            if (store.fullAtNs(quantumNs) <= nowNs) {
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
    public boolean isOverCap(long tenant, boolean contended, long nowNs) {
        Store store = stores.get(tenant);
        if (store == null) {
            return false;
        }
        store.fill(0, nowNs);
        return store.isEmpty(contended);
    }

    @Override
    public List<Long> order() {
        return policy.order();
    }

    @Override
    public void tick(long nowNs) {
        askedNs = nowNs;
        policy.tick(nowNs);
        release(nowNs);
    }

    @Override
    public long nextTickNs() {
        long nextNs = policy.nextTickNs();
        for (Store store : withheld) {
            long allowedNs = store.allowedAtNs(quantumNs);
            // A tenant that is already allowed was passed over because another one is ready, or has the turn.
            nextNs = Math.min(nextNs, allowedNs > askedNs ? allowedNs : store.fullAtNs(quantumNs));
        }
        return nextNs;
    }
}
