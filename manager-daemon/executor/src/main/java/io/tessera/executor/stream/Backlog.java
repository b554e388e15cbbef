package io.tessera.executor.stream;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/**
 * How much of what a client has submitted is not done. A driver keeps the caller waiting inside a submission when some 1024
 * are out in a stream, and whoever waits there holds a lock that every other client needs, and hears nothing of its own end.
 * So a client whose stream is as full as it may be is not listened to until the stream goes on. One owner thread.
 */
final class Backlog {
    /** Submissions from one event to the next. */
    private static final int STEP = 64;
    /** Events that may be out; together with the records of one batch, far below what a driver takes. */
    private static final int MOST_EVENTS = 6;
    private static final long DISABLE_TIMING = 2;

    private final DriverCalls driver;
    private final ArrayDeque<Long> spare = new ArrayDeque<>();
    private final Set<ClientStream> full = new HashSet<>();

    Backlog(DriverCalls driver) {
        this.driver = driver;
    }

    /** Something was submitted to a stream; whether it is time for {@link #mark}. */
    boolean submitted(ClientStream stream) {
        return ++stream.sinceMark >= STEP;
    }

    /** Has an event tell when a stream, that captures nothing, has come so far. */
    void mark(ClientStream stream) {
        Long event = spare.poll();
        if (event == null) {
            if (driver.call(DriverEntry.cuEventCreate, driver.out(0), DISABLE_TIMING) != CudaResult.SUCCESS) {
                return; // the next submission tries again; an error of the context is seen elsewhere
            }
            event = driver.outLong(0);
        }
        if (driver.call(DriverEntry.cuEventRecord, event, stream.value) != CudaResult.SUCCESS) {
            spare.add(event);
            return;
        }
        stream.sinceMark = 0;
        stream.marks.add(event);
        if (isFull(stream)) {
            full.add(stream);
        }
    }

    private boolean isFull(ClientStream stream) {
        while (!stream.marks.isEmpty()
                && driver.call(DriverEntry.cuEventQuery, stream.marks.peek()) != CudaResult.NOT_READY) {
            spare.add(stream.marks.poll());
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
        spare.addAll(stream.marks);
        stream.marks.clear();
    }

    /** No stream is left: destroys the events. */
    void close() {
        spare.forEach(event -> driver.call(DriverEntry.cuEventDestroy_v2, event));
        spare.clear();
    }
}
