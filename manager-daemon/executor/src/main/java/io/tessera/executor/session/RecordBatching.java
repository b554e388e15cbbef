package io.tessera.executor.session;

/**
 * The first records of a client that has been quiet are carried out a few at a time, with no other client's between them: a client that
 * waits for its answers mostly sends some launches and copies and then waits, and each would wait for others' calls by itself. A client
 * that floods its ring is never quiet. One owner thread.
 */
final class RecordBatching {
    /** Records that keep others out together: some 12 us, after which others no longer wait. 1: none does, for measurements. */
    private static final int TOGETHER = Math.max(1, Integer.getInteger("tessera.executor.burst", 4));
    /** Number of records after a quiet time that count as first ones. */
    private static final int FIRST = 8;

    private final Runnable begins;
    private final Runnable ends;
    private int left;
    private int kept;

    /**
     * Creates an instance with what keeps others out.
     *
     * @param begins from now on
     * @param ends   no longer
     */
    RecordBatching(Runnable begins, Runnable ends) {
        this.begins = begins;
        this.ends = ends;
    }

    /** Begins before records are executed; {@code wasQuiet} says whether there were none before. */
    void begin(boolean wasQuiet) {
        left = wasQuiet && TOGETHER > 1 ? FIRST : left;
    }

    /** Called before each record. */
    void record() {
        if (kept > 0 && (kept == TOGETHER || left == 0)) {
            end();
        }
        if (left > 0) {
            if (kept == 0) {
                begins.run();
            }
            kept++;
            left--;
        }
    }

    /** Called after the records. */
    void end() {
        if (kept > 0) {
            kept = 0;
            ends.run();
        }
    }
}
