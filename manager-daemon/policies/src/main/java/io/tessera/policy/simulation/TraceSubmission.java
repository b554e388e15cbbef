package io.tessera.policy.simulation;

/**
 * One request that arrives at a given time.
 *
 * @param atNs     time of its arrival
 * @param tenant   index of its tenant in the trace
 * @param lengthNs time that the device works on it; at least 1
 */
public record TraceSubmission(long atNs, int tenant, long lengthNs) {
    /** Checks times. */
    public TraceSubmission {
        if (atNs < 0 || lengthNs < 1) {
            throw new IllegalArgumentException("submission of " + lengthNs + " ns at " + atNs + " ns");
        }
    }
}
