package io.tessera.executor.launch;

/**
 * Measures the time per block of a grid, from parts that follow each other without a pause. Later parts count more, because the first ones may have waited for
 * unrelated work. One owner thread.
 */
final class PartRate {
    /** Weight that earlier parts keep when another part is done. */
    private static final double KEPT = 0.75;

    /** When the last part was done, or the first one began; 0: neither is known. */
    private long lastNs;
    private double blocks;
    private double ns;

    /** Starts a new measurement at the time when the first part began without waiting; 0: its begin is unknown. */
    void begin(long beginNs) {
        lastNs = beginNs;
        blocks = 0;
        ns = 0;
    }

    /**
     * Records that a part of this many blocks was found to be done.
     *
     * @return whether the rate is known: parts that are all found to be done at the same time do not show how long they took
     */
    boolean done(long count, long nowNs) {
        long tookNs = lastNs == 0 ? 0 : nowNs - lastNs;
        lastNs = nowNs;
        if (ns + tookNs == 0) {
            return false;
        }
        blocks = KEPT * blocks + count;
        ns = KEPT * ns + tookNs;
        return true;
    }

    double blockNs() {
        return ns / blocks;
    }
}
