package io.tessera.executor.turn;

import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicySettings;
import io.tessera.policy.SchedulingPolicy;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TurnChoice;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Decides which tenant of an executor may submit. While nothing requires turns, all may. Otherwise one tenant at a time has the device for a turn of some
 * milliseconds: the next one submits when what the last one had queued is done.
 *
 * <pre>
 *   closed ──waits──> ready ──next──> open ──turn over, or nothing to do──> its work drains ──> closed
 * </pre>
 *
 * <p>A turn ends only if another tenant waits, or at a cap. It also ends when its holder submits nothing. Time is an argument; no method blocks. One
 * owner at a time.
 */
final class GateTurns {
    /** A turn without work continues for this time: a program that waits for each of its kernels launches the next one within it. */
    static final long GRACE_NS = 300_000L;
    /** Longest wait for a drain. Work that takes longer may wait for a later submission of its program, so the next tenant runs beside it. */
    static final long DRAIN_NS = 2_000_000_000L;
    /** Time for which a tenant without requests still counts in the calculation of others' turns. */
    static final long REST_NS = 500_000_000L;
    /**
     * Under round robin, the length of turns as a multiple of the drain after them: the excess of a turn is subtracted from the following ones. Turns are
     * never longer than turns on a whole device.
     */
    private static final int DRAINS_IN_TURN = 4;
    private static final long LONGEST_QUANTUM_NS = PolicySettings.TURNS.quantumNs();
    /** Fraction of the longest drain that is kept after a shorter one. */
    private static final double KEPT = 0.9;
    /** Maximum number of tenants that have left whose numbers are kept. */
    private static final int MOST_NUMBERS = 1_000;

    private final Map<Long, GateTenant> tenants = new LinkedHashMap<>();
    private final Map<String, Long> numbers = new LinkedHashMap<>();
    private long lastNumber;
    private PolicyName name = PolicyName.ROUND_ROBIN;
    private TurnUse use = TurnUse.AUTO;
    private SchedulingPolicy policy = name.make(PolicySettings.SUBMISSIONS);
    private boolean active;
    /** The tenant whose turn it is; null: none. */
    private GateTenant holder;
    private long turnEndsNs;
    /** Since when the holder's work has been draining; {@link GateTenant#NEVER}: its turn is not over. */
    private long drainsSinceNs = GateTenant.NEVER;
    /** Recent time of drains after turns. */
    private long drainNs;
    /** Since when the holder has had no work; {@link GateTenant#NEVER}: it has work. */
    private long idleSinceNs = GateTenant.NEVER;

    /** Returns whether submissions are held back now. */
    boolean isActive() {
        return active;
    }

    PolicyName policy() {
        return name;
    }

    TurnUse use() {
        return use;
    }

    /** Sets how tenants share from now on. */
    void share(PolicyName newName, TurnUse newUse, long nowNs) {
        if (newName != name) {
            deactivate(nowNs);
            name = newName;
            policy = name.make(PolicySettings.SUBMISSIONS);
            tenants.values().forEach(tenant -> policy.joined(tenant.number, tenant.terms, nowNs));
        }
        use = newUse;
        reconsider(nowNs);
    }

    /**
     * Adds a tenant.
     *
     * @param tenantName a unique name
     * @param busy       whether it has work on the device that ends by itself
     */
    GateTenant join(String tenantName, TenantTerms terms, BooleanSupplier busy, long nowNs) {
        Long known = numbers.remove(tenantName);
        GateTenant tenant = new GateTenant(known == null ? ++lastNumber : known, terms, busy);
        numbers.put(tenantName, tenant.number);
        if (numbers.size() > MOST_NUMBERS) {
            numbers.remove(numbers.keySet().iterator().next());
        }
        tenant.open = !active;
        tenants.put(tenant.number, tenant);
        policy.joined(tenant.number, terms, nowNs);
        reconsider(nowNs);
        return tenant;
    }

    /** Sets other terms for a tenant from now on. */
    void change(GateTenant tenant, TenantTerms terms, long nowNs) {
        tenant.terms = terms;
        policy.changed(tenant.number, terms, nowNs);
        reconsider(nowNs);
    }

    /** Removes a tenant. */
    void leave(GateTenant tenant, long nowNs) {
        policy.left(tenant.number, nowNs);
        tenants.remove(tenant.number);
        if (holder == tenant) {
            release();
        }
        tenant.open = true;
        reconsider(nowNs);
    }

    /** Records that another client of a tenant has a submission that is held back. */
    void waits(GateTenant tenant, long nowNs) {
        tenant.waiting++;
        if (active && tenant.waiting == 1 && tenant != holder) {
            ready(tenant, nowNs);
        }
    }

    /** Records that a client's submission is made, or that the client has left. */
    void waitsNoMore(GateTenant tenant, long nowNs) {
        tenant.waiting--;
        if (active && tenant.waiting == 0 && tenant != holder) {
            rests(tenant, nowNs);
        }
    }

    private void ready(GateTenant tenant, long nowNs) {
        tenant.restsSinceNs = GateTenant.NEVER;
        policy.ready(tenant.number, 1, nowNs, nowNs);
    }

    private void rests(GateTenant tenant, long nowNs) {
        tenant.restsSinceNs = nowNs;
        policy.blocked(tenant.number, nowNs);
    }

    /** Charges a tenant for this much device time. */
    void charge(GateTenant tenant, long usedNs, long nowNs) {
        if (active) {
            policy.charged(tenant.number, usedNs, nowNs);
        }
    }

    /** Does the work that is due. */
    void step(long nowNs) {
        if (!active) {
            return;
        }
        for (GateTenant tenant : tenants.values()) {
            if (tenant.restsSinceNs != GateTenant.NEVER && nowNs - tenant.restsSinceNs > REST_NS) {
                tenant.restsSinceNs = GateTenant.NEVER;
                policy.idle(tenant.number, nowNs);
            }
        }
        policy.tick(nowNs);
        if (holder != null) {
            lookAtHolder(nowNs);
        }
        if (holder == null) {
            grant(nowNs);
        }
    }

    private void lookAtHolder(long nowNs) {
        boolean busy = holder.busy.getAsBoolean();
        if (drainsSinceNs == GateTenant.NEVER) {
            boolean another = !policy.order().isEmpty();
            idleSinceNs = busy || holder.waiting > 0 ? GateTenant.NEVER : idleSinceNs == GateTenant.NEVER ? nowNs : idleSinceNs;
            boolean idle = idleSinceNs != GateTenant.NEVER && nowNs - idleSinceNs >= GRACE_NS;
            boolean over = another && (idle || nowNs >= turnEndsNs || policy.preempts(holder.number, nowNs));
            if (!over && !policy.isOverCap(holder.number, another, nowNs)) {
                return;
            }
            holder.open = false;
            drainsSinceNs = nowNs;
        }
        if (!busy || nowNs - drainsSinceNs >= DRAIN_NS) {
            GateTenant before = holder;
            drained(nowNs - drainsSinceNs);
            release();
            if (before.waiting > 0) {
                ready(before, nowNs);
            } else {
                rests(before, nowNs);
            }
        }
    }

    private void drained(long tookNs) {
        drainNs = Math.max(tookNs, (long) (KEPT * drainNs));
        if (name == PolicyName.ROUND_ROBIN) {
            policy.quantumNs(Math.clamp(DRAINS_IN_TURN * drainNs, PolicySettings.SUBMISSIONS.quantumNs(), LONGEST_QUANTUM_NS));
        }
    }

    private void release() {
        holder = null;
        drainsSinceNs = GateTenant.NEVER;
        idleSinceNs = GateTenant.NEVER;
    }

    private void grant(long nowNs) {
        if (policy.next(nowNs) instanceof TurnChoice.Turn turn) {
            holder = tenants.get(turn.tenant());
            holder.open = true;
            turnEndsNs = nowNs + turn.lengthNs();
        }
    }

    private void reconsider(long nowNs) {
        if (!needsTurns()) {
            deactivate(nowNs);
        } else if (!active) {
            active = true;
            for (GateTenant tenant : tenants.values()) {
                tenant.open = false;
                if (tenant.waiting > 0) {
                    ready(tenant, nowNs);
                }
            }
        }
        step(nowNs);
    }

    private void deactivate(long nowNs) {
        if (!active) {
            return;
        }
        active = false;
        if (holder != null) {
            policy.interrupted(holder.number, nowNs);
            release();
        }
        for (GateTenant tenant : tenants.values()) {
            policy.idle(tenant.number, nowNs);
            tenant.restsSinceNs = GateTenant.NEVER;
            tenant.open = true;
        }
    }

    private boolean needsTurns() {
        boolean several = tenants.size() > 1;
        TenantTerms first = null;
        boolean needs = use == TurnUse.ON && several;
        for (GateTenant tenant : tenants.values()) {
            TenantTerms terms = tenant.terms;
            needs |= terms.hardCap() < 1 || terms.softCap() < 1 && several || first != null && !name.treatsAlike(first, terms);
            first = terms;
        }
        return needs && use != TurnUse.OFF;
    }
}
