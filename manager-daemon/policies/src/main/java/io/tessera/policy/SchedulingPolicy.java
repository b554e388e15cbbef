package io.tessera.policy;

import java.util.List;

/**
 * Decides which tenant uses one device next, and for how long. It serves both turns on the whole device and queues of submissions: a turn is what a
 * tenant may do before the policy is asked again.
 *
 * <pre>
 *            ready                 next                 ready, blocked, idle
 *   waits ───────────> ready ───────────> has its turn ─────────────────────> ready or waits
 * </pre>
 *
 * <p>Several tenants may have turns at the same time, if a device runs work of several. Used time is charged by {@link #charged} when it is known,
 * possibly after the turn. Numbers of tenants that have not joined, or have left, are ignored, because an executor's answers may be late.
 *
 * <p>Times are monotonic nanoseconds and never go back. Not thread-safe: one owner thread.
 */
public interface SchedulingPolicy {
    /** Sets the length of a turn of average weight, from the next turn on; 0: a turn is one request. */
    void quantumNs(long quantumNs);

    /** Adds a tenant, which has no work yet. For a present tenant this is the same as {@link #changed}. */
    void joined(long tenant, TenantTerms terms, long nowNs);

    /** Changes weight, priority, class, caps or target of a tenant from now on. */
    void changed(long tenant, TenantTerms terms, long nowNs);

    /** Removes a tenant, with its work. */
    void left(long tenant, long nowNs);

    /**
     * Records that a tenant has work that waits for the device. Ends its turn, if it had one; if it was ready already, it updates its queue.
     *
     * @param requests number of its requests that wait, at least 1
     * @param sinceNs  time since which the oldest of them waits
     */
    void ready(long tenant, int requests, long sinceNs, long nowNs);

    /** Records that a tenant has no work for the device but will soon have: it computes on the host, or waits for input. Ends its turn. */
    void blocked(long tenant, long nowNs);

    /** Records that a tenant has no work, and none is expected. Ends its turn. */
    void idle(long tenant, long nowNs);

    /** Cuts a tenant's turn off because the device is shared without turns from now on. The rest of the turn is added to its next one. */
    void interrupted(long tenant, long nowNs);

    /** Charges a tenant for time that the device has worked for it, beyond what was charged before. */
    void charged(long tenant, long usedNs, long nowNs);

    /** Records that a request of a tenant is done, and how long the device has worked on it. Charges nothing. */
    void finished(long tenant, long serviceNs, long nowNs);

    /** Returns the next tenant. A tenant that is returned has its turn from now on, and is not ready until it is reported as ready again. */
    TurnChoice next(long nowNs);

    /** Returns whether a tenant is ready for which the turn of {@code running} should end now. */
    boolean preempts(long running, long nowNs);

    /**
     * Returns whether a tenant has used up what its caps allow: its turn ends with its present request.
     *
     * @param contended another tenant waits for the device; a soft cap counts only in that case
     */
    boolean isOverCap(long tenant, boolean contended, long nowNs);

    /** Returns the ready tenants in the order in which they get their turns if nothing else happens; with caps and credit this is an estimate. */
    List<Long> order();

    /** Does the work that is due at a time. The other calls do so by themselves. */
    void tick(long nowNs);

    /** Returns when the answers of {@link #next} and {@link #preempts} may change without an event; {@link Long#MAX_VALUE}: never. */
    long nextTickNs();
}
