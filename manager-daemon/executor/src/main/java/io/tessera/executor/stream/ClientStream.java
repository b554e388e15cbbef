package io.tessera.executor.stream;

import java.util.ArrayDeque;

/**
 * One stream of a client: a non-blocking stream of the device's context, whatever the program asked for. The order that a
 * blocking stream has is made by events. Package-private fields: written by {@code ClientStreams} alone. One owner thread.
 */
public final class ClientStream {
    /**
     * A place of a stream.
     *
     * @param event complete when the stream has come there
     * @param nodes of graphs between the mark before and this one
     * @param movesNs what copies and memsets between them take
     */
    record Mark(long event, long nodes, long movesNs) {
    }

    final long value;
    /** Number of the client's context that it belongs to, and does not outlive. */
    final int context;
    final boolean blocking;
    final boolean legacy;
    /** Work since the context was last waited for. */
    boolean workSinceJoin;
    /** Work since the legacy stream last waited for this one; only of blocking streams. */
    boolean workSinceLegacy;
    /** Which work of the legacy stream this one has waited for. */
    long legacySeen;
    /** Whether a capture begun on this stream is open. */
    boolean capturing;
    /** Recorded for others to wait for; 0: not made yet. */
    long event;
    /** Submissions since the last of {@link #marks}. */
    int sinceMark;
    /** Nodes of graphs that were launched since then. */
    long nodesSinceMark;
    /** What copies and memsets take that were submitted since then. */
    long movesNsSinceMark;
    /** Marks of the {@code Backlog} that are not reached, the oldest first. */
    final ArrayDeque<Mark> marks = new ArrayDeque<>();

    ClientStream(long value, int context, boolean blocking, boolean legacy) {
        this.value = value;
        this.context = context;
        this.blocking = blocking;
        this.legacy = legacy;
    }

    /** Whether a capture that was begun on it is open. */
    public boolean isOriginOfCapture() {
        return capturing;
    }

    /** The driver's handle. */
    public long value() {
        return value;
    }
}
