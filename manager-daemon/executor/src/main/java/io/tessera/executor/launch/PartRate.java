package io.tessera.executor.launch;

/**
 * How many blocks of a grid are done in which time, of parts that follow each other without a pause. Later parts count more: the first ones may have waited for what has nothing to do with
 * them. One owner thread.
 */
final class PartRate {
    /** What the parts before a part count when it is done, of what they counted. */
    private static final double KEPT = 0.75;

    /** When the last part was done, or the first one began; 0: neither is known. */
    private long lastNs;
    private double blocks;
    private double ns;

    /** Starts again, at a time when the first part began and waited for nobody; 0: it is not known when it begins. */
    void begin(long beginNs) {
        lastNs = beginNs;
        blocks = 0;
        ns = 0;
    }

    /**
     * A part of this many blocks is seen to be done.
     *
     * @return whether anything is known: parts that are seen to be done in one look do not show how long they took
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

    /** Time of a block, in ns. */
    double blockNs() {
        return ns / blocks;
    }
}
