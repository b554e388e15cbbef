package io.tessera.policy.simulation;

/**
 * Results of one tenant.
 *
 * @param tenant      the tenant
 * @param usedNs      time that the device worked for it, without lost work
 * @param lostNs      time that the device worked on requests of it that were stopped
 * @param requests    number of finished requests
 * @param unfinished  number of unfinished requests
 * @param revocations number of times that a request of it was stopped
 * @param inTime      number of requests that were done within the tenant's target
 * @param waits       times from a request's arrival to its begin
 * @param responses   times from its arrival to its end
 */
public record TenantResult(TraceTenant tenant, long usedNs, long lostNs, long requests, long unfinished, long revocations, long inTime,
        WaitSamples waits, WaitSamples responses) {
}
