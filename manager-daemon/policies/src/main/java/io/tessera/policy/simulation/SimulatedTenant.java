package io.tessera.policy.simulation;

import io.tessera.policy.PolicySettings;
import io.tessera.policy.TenantTerms;
import java.util.ArrayDeque;

/** A tenant during a simulation: its queue and its results. Owned by {@link DeviceSimulation}. */
final class SimulatedTenant {
    final int index;
    final ArrayDeque<SimulatedRequest> queue = new ArrayDeque<>();
    TenantTerms terms;

    /** Time since which it has no work. */
    long emptySinceNs;
    boolean idleCheckDue;
    boolean holdsTurn;

    private final TraceTenant tenant;
    private final WaitSamples waits = new WaitSamples();
    private final WaitSamples responses = new WaitSamples();
    private long usedNs;
    private long lostNs;
    private long requests;
    private long revocations;
    private long inTime;

    SimulatedTenant(int index, TraceTenant tenant) {
        this.index = index;
        this.tenant = tenant;
        this.terms = tenant.terms();
    }

    void done(SimulatedRequest request, long startedNs, long nowNs, PolicySettings constants) {
        usedNs += request.lengthNs();
        requests++;
        waits.add(startedNs - request.atNs());
        long responseNs = nowNs - request.atNs();
        responses.add(responseNs);
        inTime += responseNs <= constants.targetNs(terms) ? 1 : 0;
    }

    void stopped(long ranNs) {
        lostNs += ranNs;
        revocations++;
    }

    TenantResult result() {
        return new TenantResult(tenant, usedNs, lostNs, requests, queue.size(), revocations, inTime, waits, responses);
    }
}
