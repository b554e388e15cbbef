package io.tessera.executor.stream;

import io.tessera.device.CudaResult;
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
    /** Nodes of graphs from one event to the next. */
    private static final int NODES_STEP = 16_384;
    /** What copies and memsets take from one event to the next, and what one client may have before it: one submission may exceed it. */
    private static final long MOST_MOVES_NS = 1_000_000_000L;
    private static final long MOVES_STEP_NS = MOST_MOVES_NS / MOST_EVENTS;
    /** Nodes of launched graphs that one client may have before it; each takes memory of whoever runs it. One launch may exceed it. */
    private static final long MOST_NODES = 1L << 18;

    private final ProgressEvents events;
    private final MoveTime moves;
    private final Set<ClientStream> full = new HashSet<>();
    /** Nodes of graphs before all marks that were not seen to be reached. */
    private long nodes;
    /** What copies and memsets before them take. */
    private long movesNs;

    Backlog(ProgressEvents events, MoveTime moves) {
        this.events = events;
        this.moves = moves;
    }

    /** Something was submitted to a stream; whether it is time for {@link #mark}. */
    boolean submitted(ClientStream stream) {
        return ++stream.sinceMark >= STEP || stream.nodesSinceMark >= NODES_STEP || stream.movesNsSinceMark >= MOVES_STEP_NS;
    }

    /** Has an event tell when a stream, that captures nothing, has come so far. Returns the event, else NONE. */
    long mark(ClientStream stream) {
        long event = events.record(stream.value);
        if (event == ProgressEvents.NONE) {
            return event; // the next submission tries again; an error of the context is seen elsewhere
        }
        stream.marks.add(new ClientStream.Mark(event, stream.nodesSinceMark, stream.movesNsSinceMark));
        nodes += stream.nodesSinceMark;
        movesNs += stream.movesNsSinceMark;
        moves.add(stream.movesNsSinceMark);
        stream.sinceMark = 0;
        stream.nodesSinceMark = 0;
        stream.movesNsSinceMark = 0;
        if (isFull(stream)) {
            full.add(stream);
        }
        return event;
    }

    private boolean isFull(ClientStream stream) {
        while (!stream.marks.isEmpty() && events.query(stream.marks.peek().event()) != CudaResult.NOT_READY) {
            reached(stream.marks.poll());
        }
        return stream.marks.size() >= MOST_EVENTS || (nodes >= MOST_NODES || movesNs >= MOST_MOVES_NS) && !stream.marks.isEmpty();
    }

    private void reached(ClientStream.Mark mark) {
        nodes -= mark.nodes();
        movesNs -= mark.movesNs();
        moves.add(-mark.movesNs());
        events.giveBack(mark.event());
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
        stream.marks.forEach(this::reached);
        stream.marks.clear();
    }
}
