package io.tessera.executor.stream;

import java.util.ArrayDeque;

/**
 * One stream of a client: a non-blocking stream of the device's context, whatever kind the program asked for. Events provide the order of a blocking stream.
 * Package-private fields: written by {@code ClientStreams} alone. One owner thread.
 */
public final class ClientStream {
    private static final long[] NO_PARTS = {};

    /**
     * A mark in a stream.
     *
     * @param event complete when the stream has reached the mark
     * @param nodes       nodes of graphs between the previous mark and this one
     * @param movesNs     time of copies and memsets between them
     * @param submissions submissions between them
     * @param firstNs     when the first of those was made
     */
    record Mark(long event, long nodes, long movesNs, int submissions, long firstNs) {
    }

    /** The driver's stream that submissions go to now. Read by other clients of the tenant while the owner stands still. */
    volatile long value;
    /** The driver's stream on all processors, which the client's handle names. */
    final long whole;
    /** The driver's streams on parts of the processors, by the number of the part; made when they are needed, 0: not yet. */
    long[] parts = NO_PARTS;
    /** The part that {@link #value} is on. */
    int part;
    /** Whether the client has set attributes of the stream, which another stream would not have. */
    boolean hasAttributes;
    /** Number of the client's context to which the stream belongs, and with which it ends. */
    final int context;
    final boolean blocking;
    final boolean legacy;
    /** Whether there is work since the context was last waited for. */
    boolean workSinceJoin;
    /** Whether there is work since the legacy stream last waited for this one; only for blocking streams. */
    boolean workSinceLegacy;
    /** The work of the legacy stream for which this stream has waited. */
    long legacySeen;
    /** Whether a capture that began on this stream is open. */
    boolean capturing;
    /** Event that is recorded for other streams to wait for; 0: not made yet. */
    long event;
    /** Submissions since the last of {@link #marks}. */
    int sinceMark;
    /** When the first of them was made. */
    long firstNs;
    /** Submissions from one mark to the next. */
    int step = Backlog.FIRST_STEP;
    /** Submissions before marks that are not reached. */
    long unreached;
    /** Device time of a submission, as far as is known: the longest lately, and the mean. */
    double submissionNs;
    double meanNs;
    /** When the last mark was found to be reached, and when the oldest was last found not to be. */
    long reachedNs = Long.MIN_VALUE / 2;
    long waitedNs = Long.MIN_VALUE / 2;
    /** Nodes of graphs that were launched since then. */
    long nodesSinceMark;
    /** Time of copies and memsets that were submitted since then. */
    long movesNsSinceMark;
    /** Marks of the {@code Backlog} that are not reached, the oldest first. */
    final ArrayDeque<Mark> marks = new ArrayDeque<>();

    ClientStream(long value, int context, boolean blocking, boolean legacy) {
        this.value = value;
        this.whole = value;
        this.context = context;
        this.blocking = blocking;
        this.legacy = legacy;
    }

    /** Returns whether a capture that was begun on it is open. */
    public boolean isOriginOfCapture() {
        return capturing;
    }

    /** Returns the driver's stream that submissions go to now. */
    public long value() {
        return value;
    }

    /** Returns the driver's stream that it has for as long as it lives, whatever its submissions go to. */
    public long whole() {
        return whole;
    }

    /** Returns the longest time that one of its submissions has taken lately, as far as is known, in ns. */
    public long longestNs() {
        return (long) submissionNs;
    }

    /** Records that the client has set an attribute: the stream stays on the driver's stream that has it. */
    public void hasAttributes() {
        hasAttributes = true;
    }

    /** Returns whether one of its driver's streams has this handle. */
    boolean has(long handle) {
        if (handle == whole) {
            return true;
        }
        for (long part : parts) {
            if (part != 0 && part == handle) {
                return true;
            }
        }
        return false;
    }
}
