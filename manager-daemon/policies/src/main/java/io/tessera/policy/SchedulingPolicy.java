package io.tessera.policy;

import java.util.List;

/**
 * Decides which tenant uses one device next, and for how long. The same for turns on the whole device and for queues of submissions: a turn is
 * what a tenant may do before the policy is asked again.
 *
 * <pre>
 *            ready                 next                 ready, blocked, idle
 *   waits ───────────> ready ───────────> has its turn ─────────────────────> ready or waits
 * </pre>
 *
 * <p>Several tenants may have turns at the same time, where a device runs work of several. Used time is charged by {@link #charged} when it is
 * known, also after the turn. Numbers of tenants that have not joined, or have left, are ignored: an executor's answers come late.
 *
 * <p>Times are monotonic nanoseconds and never go back. Not thread-safe: one owner thread.
 */
public interface SchedulingPolicy {
    /** Sets the length of a turn of average weight, from the next turn on; 0: a turn is one request. */
    void quantumNs(long quantumNs);

    /** A tenant is there; it has no work yet. A second time it is the same as {@link #changed}. */
    void joined(long tenant, TenantTerms terms, long nowNs);

    /** Weight, priority, class, caps or target of a tenant change from now on. */
    void changed(long tenant, TenantTerms terms, long nowNs);

    /** A tenant is gone, with its work. */
    void left(long tenant, long nowNs);

    /**
     * A tenant has work that waits for the device. Ends its turn, if it had one; says how its queue has changed, if it was ready already.
     *
     * @param requests how many requests of it wait, at least 1
     * @param sinceNs  since when the oldest of them does
     */
    void ready(long tenant, int requests, long sinceNs, long nowNs);

    /** A tenant has no work for the device but will soon have: it computes on the host, or waits for input. Ends its turn. */
    void blocked(long tenant, long nowNs);

    /** A tenant has no work, and none is expected. Ends its turn. */
    void idle(long tenant, long nowNs);

    /** A tenant's turn is cut off because the device is shared without turns from now on. The rest of it is added to its next turn. */
    void interrupted(long tenant, long nowNs);

    /** The device has worked for a tenant for this long, beyond what was charged before. */
    void charged(long tenant, long usedNs, long nowNs);

    /** A request of a tenant is done; the device has worked on it for this long. Charges nothing. */
    void finished(long tenant, long serviceNs, long nowNs);

    /** The next tenant. A tenant that is named here has its turn from now on, and is not ready until it says so again. */
    TurnChoice next(long nowNs);

    /** Whether a tenant is ready for which the turn of {@code running} should end now. */
    boolean preempts(long running, long nowNs);

    /**
     * Whether a tenant has used up what its caps leave it: its turn ends with its present request.
     *
     * @param contended another tenant waits for the device; only then a soft cap counts
     */
    boolean isOverCap(long tenant, boolean contended, long nowNs);

    /** The tenants that are ready, in the order in which they get their turns if nothing else happens; with caps and credit it is a guess. */
    List<Long> order();

    /** Does what is due at a time. The other calls do so by themselves. */
    void tick(long nowNs);

    /** When the answers of {@link #next} and {@link #preempts} may change although nothing happens; {@link Long#MAX_VALUE}: never. */
    long nextTickNs();
}
