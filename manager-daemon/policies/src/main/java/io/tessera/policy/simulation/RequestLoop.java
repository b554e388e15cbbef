package io.tessera.policy.simulation;

/**
 * A program that submits a request, waits until it is done, computes for a while, and begins again.
 *
 * @param fromNs   time of its begin
 * @param untilNs  time from which no request comes; {@link Long#MAX_VALUE}: no end
 * @param tenant   index of its tenant in the trace
 * @param lengthNs time that the device works on a request; at least 1
 * @param gapNs    time from the end of a request to the next one
 * @param depth    number of requests in progress at once; at least 1
 * @param requests number of all requests; {@link Long#MAX_VALUE}: no end
 */
public record RequestLoop(long fromNs, long untilNs, int tenant, long lengthNs, long gapNs, int depth, long requests) {
    /** Checks times and numbers. */
    public RequestLoop {
        if (fromNs < 0 || untilNs < fromNs || lengthNs < 1 || gapNs < 0) {
            throw new IllegalArgumentException(
                    "loop from " + fromNs + " to " + untilNs + " ns with requests of " + lengthNs + " ns and gaps of " + gapNs + " ns");
        }
        if (depth < 1 || requests < 1) {
            throw new IllegalArgumentException("loop of " + requests + " requests, " + depth + " at once");
        }
    }

    /** Returns a loop without an end, of one request at a time. */
    public static RequestLoop endless(int tenant, long lengthNs, long gapNs) {
        return new RequestLoop(0, Long.MAX_VALUE, tenant, lengthNs, gapNs, 1, Long.MAX_VALUE);
    }
}
