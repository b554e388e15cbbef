package io.tessera.policy.simulation;

import io.tessera.policy.TenantClass;
import java.util.List;

/**
 * What a simulated device did.
 *
 * @param tenants    what each tenant got, in the trace's order
 * @param elapsedNs  simulated time
 * @param handoverNs time that hand-overs took
 * @param turns      how many turns there were
 */
public record SimulationResult(List<TenantResult> tenants, long elapsedNs, long handoverNs, long turns) {
    /** For how long the device worked to some end. */
    public long busyNs() {
        return tenants.stream().mapToLong(TenantResult::usedNs).sum();
    }

    /** For how long the device worked in vain. */
    public long lostNs() {
        return tenants.stream().mapToLong(TenantResult::lostNs).sum();
    }

    /** {@link #busyNs} over all time; 0 where no time has passed. */
    public double utilisation() {
        return elapsedNs == 0 ? 0 : (double) busyNs() / elapsedNs;
    }

    /** A tenant's part of what the device worked; 0 where it did not. */
    public double share(TenantResult tenant) {
        long busyNs = busyNs();
        return busyNs == 0 ? 0 : (double) tenant.usedNs() / busyNs;
    }

    /** The waits of all tenants. */
    public WaitSamples waits() {
        return WaitSamples.of(tenants.stream().map(TenantResult::waits).toList());
    }

    /** Which part of a class's requests was done within its target; those not done were not. 1 where there are none. */
    public double inTime(TenantClass tenantClass) {
        List<TenantResult> some = tenants.stream().filter(result -> result.tenant().terms().tenantClass() == tenantClass).toList();
        long all = some.stream().mapToLong(result -> result.requests() + result.unfinished()).sum();
        return all == 0 ? 1 : (double) some.stream().mapToLong(TenantResult::inTime).sum() / all;
    }
}
