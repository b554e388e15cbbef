package io.tessera.executor.session;

/**
 * Executes the first records of a client that has been quiet a few at a time, without other clients' calls between them. Such a client mostly
 * sends some launches and copies and then waits for the answer; otherwise each of them would have to wait for others' calls. A client that
 * floods its ring is never quiet. One owner thread.
 */
final class RecordBatching {
    /** Number of records that keep others out together. They take some 12 us, for as long as others wait at most. 1 turns this off, for measurements. */
    private static final int TOGETHER = Math.max(1, Integer.getInteger("tessera.executor.burst", 4));
    /** Number of records after a quiet time that count as first ones. */
    private static final int FIRST = 8;

    private final Runnable begins;
    private final Runnable ends;
    private int left;
    private int kept;

    /**
     * Creates an instance.
     *
     * @param begins keeps other clients out from now on
     * @param ends   lets them in again
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
