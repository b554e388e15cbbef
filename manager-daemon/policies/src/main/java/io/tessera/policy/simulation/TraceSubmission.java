package io.tessera.policy.simulation;

/**
 * One request that comes at a given time.
 *
 * @param atNs     when it comes
 * @param tenant   index of its tenant in the trace
 * @param lengthNs for how long the device works on it; at least 1
 */
public record TraceSubmission(long atNs, int tenant, long lengthNs) {
    /** Checks times. */
    public TraceSubmission {
        if (atNs < 0 || lengthNs < 1) {
            throw new IllegalArgumentException("submission of " + lengthNs + " ns at " + atNs + " ns");
        }
    }
}
