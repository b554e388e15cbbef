package io.tessera.policy.simulation;

import io.tessera.policy.TenantClass;
import java.util.List;

/**
 * Results of a simulation.
 *
 * @param tenants    results of each tenant, in the trace's order
 * @param elapsedNs  simulated time
 * @param handoverNs time taken by hand-overs
 * @param turns      number of turns
 */
public record SimulationResult(List<TenantResult> tenants, long elapsedNs, long handoverNs, long turns) {
    /** Returns the time that the device worked on requests that were completed. */
    public long busyNs() {
        return tenants.stream().mapToLong(TenantResult::usedNs).sum();
    }

    /** Returns the time that the device worked without a result. */
    public long lostNs() {
        return tenants.stream().mapToLong(TenantResult::lostNs).sum();
    }

    /** Returns {@link #busyNs} over all time; 0 if no time has passed. */
    public double utilisation() {
        return elapsedNs == 0 ? 0 : (double) busyNs() / elapsedNs;
    }

    /** Returns a tenant's share of the device's work; 0 if it did none. */
    public double share(TenantResult tenant) {
        long busyNs = busyNs();
        return busyNs == 0 ? 0 : (double) tenant.usedNs() / busyNs;
    }

    /** Returns the waits of all tenants. */
    public WaitSamples waits() {
        return WaitSamples.of(tenants.stream().map(TenantResult::waits).toList());
    }

    /** Returns the share of a class's requests that were done within their target; unfinished ones count as late. 1 if there are none. */
    public double inTime(TenantClass tenantClass) {
        List<TenantResult> some = tenants.stream().filter(result -> result.tenant().terms().tenantClass() == tenantClass).toList();
        long all = some.stream().mapToLong(result -> result.requests() + result.unfinished()).sum();
        return all == 0 ? 1 : (double) some.stream().mapToLong(TenantResult::inTime).sum() / all;
    }
}
