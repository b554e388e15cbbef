package io.tessera.policy.simulation;

/**
 * What one tenant got.
 *
 * @param tenant the tenant
 * @param usedNs      for how long the device worked for it, without what was lost
 * @param lostNs      for how long the device worked on requests of it that were stopped
 * @param requests    how many were done
 * @param unfinished  how many were not
 * @param revocations how often a request of it was stopped
 * @param inTime      of how many requests the end came within the tenant's target
 * @param waits       from a request's coming to its begin
 * @param responses   from its coming to its end
 */
public record TenantResult(TraceTenant tenant, long usedNs, long lostNs, long requests, long unfinished, long revocations, long inTime,
        WaitSamples waits, WaitSamples responses) {
}
