package io.tessera.executor.stream;

import io.tessera.executor.driver.CudaResult;
import java.util.HashSet;
import java.util.Set;

/**
 * How much of what a client has submitted is not done. A driver keeps the caller waiting inside a submission when some 1024
 * are out in a stream, and whoever waits there holds a lock that every other client needs, and hears nothing of its own end.
 * So a client whose stream is as full as it may be is not listened to until the stream goes on. One owner thread.
 */
final class Backlog {
    /** Submissions from one event to the next; another number than the usual one is for measurements of what events cost. */
    private static final int STEP = Math.max(1, Integer.getInteger("tessera.executor.eventsEvery", 64));
    /** Submissions that may be out when events are counted; with the records of one batch, far below what a driver takes. */
    private static final int MOST_SUBMISSIONS = 384;
    private static final int MOST_EVENTS = Math.max(1, MOST_SUBMISSIONS / STEP);

    private final ProgressEvents events;
    private final Set<ClientStream> full = new HashSet<>();

    Backlog(ProgressEvents events) {
        this.events = events;
    }

    /** Something was submitted to a stream; whether it is time for {@link #mark}. */
    boolean submitted(ClientStream stream) {
        return ++stream.sinceMark >= STEP;
    }

    /** Has an event tell when a stream, that captures nothing, has come so far. Returns the event, else NONE. */
    long mark(ClientStream stream) {
        long event = events.record(stream.value);
        if (event == ProgressEvents.NONE) {
            return event; // the next submission tries again; an error of the context is seen elsewhere
        }
        stream.sinceMark = 0;
        stream.marks.add(event);
        if (isFull(stream)) {
            full.add(stream);
        }
        return event;
    }

    private boolean isFull(ClientStream stream) {
        while (!stream.marks.isEmpty() && events.query(stream.marks.peek()) != CudaResult.NOT_READY) {
            events.giveBack(stream.marks.poll());
        }
        return stream.marks.size() >= MOST_EVENTS;
    }

    /** Whether a stream has as much before it as it may have. */
    boolean isFull() {
        if (!full.isEmpty()) {
            full.removeIf(stream -> !isFull(stream));
        }
        return !full.isEmpty();
    }

    /** A stream is about to be destroyed. */
    void forget(ClientStream stream) {
        full.remove(stream);
        stream.marks.forEach(events::giveBack);
        stream.marks.clear();
    }
}
