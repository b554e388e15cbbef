package io.tessera.executor.stream;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Bounds the work that a client has submitted and that is not done. With some 1024 submissions pending in a stream, a driver blocks the caller inside the next
 * one. A blocked thread holds a lock that every other client needs, and cannot be told to end. Queued work is bounded by time, too, because others' module
 * loads and frees wait for it. So a client's records are not read while one of its streams is at its bound. One owner thread.
 */
final class Backlog {
    /** Maximum number of submissions from one event to the next; other values are for measurements of the cost of events. */
    private static final int STEP = Math.max(1, Integer.getInteger("tessera.executor.eventsEvery", 64));
    /** Bound on a stream's unfinished submissions, which are counted by events; together with the records of one batch it is far below a driver's own bound. */
    private static final int MOST_SUBMISSIONS = 384;
    private static final int MOST_EVENTS = Math.max(1, MOST_SUBMISSIONS / STEP);
    /** Nodes of graphs from one event to the next. */
    private static final int NODES_STEP = 16_384;
    /** Bound on the time of copies and memsets from one event to the next, and before a client's next submission; one submission may exceed it. */
    private static final long MOST_MOVES_NS = 1_000_000_000L;
    private static final long MOVES_STEP_NS = MOST_MOVES_NS / MOST_EVENTS;
    /** Bound on the pending nodes of launched graphs before a client's next launch; each takes memory until it has run. One launch may exceed it. */
    private static final long MOST_NODES = 1L << 18;

    /** Submissions from one event to the next until the time of a stream's submissions is known. */
    static final int FIRST_STEP = 4;
    /**
     * Bound on the time of a stream's queued work for a client that is alone on the device; then for one beside others, whose module loads, frees and first
     * kernels wait for it. One submission that runs and one behind it may exceed it.
     */
    static final long ALONE_NS = 50_000_000L;
    static final long BESIDE_NS = 20_000_000L;
    /** As above, if tenants take turns, of 10 ms on average: work that is still queued at the end of a turn delays the next one. */
    static final long IN_TURNS_NS = 2_500_000L;
    /** As above, while another client makes calls for which the driver waits for all queued work. Then only one submission may exceed it. */
    static final long AWAITED_NS = 2_500_000L;
    /**
     * In that case, submissions that take this long are made one at a time, and the next one waits for as long as the last one took, at most {@link
     * #LONGEST_HOLD_NS}. Otherwise each such call of the other client would wait for one of them, and a client that leaves makes hundreds of calls.
     */
    static final long LONG_NS = 100_000_000L;
    static final long LONGEST_HOLD_NS = 1_000_000_000L;
    /**
     * A stream without progress for this long may run a kernel that waits for what the client submits next, so the client's records are read
     * again.
     */
    static final long UNMOVED_NS = 2_000_000_000L;
    /** Number of marks within a bound. */
    private static final int PARTS = 4;
    /** Fraction of an estimate that is kept after a mark that took less, and of the mean after any mark. */
    private static final double KEPT = 0.75;

    private final ProgressEvents events;
    private final MoveTime moves;
    private final NanoClock clock;
    private final LongSupplier boundNs;
    private BooleanSupplier standing = () -> false;
    private BooleanSupplier awaited = () -> false;
    private final Set<ClientStream> full = new HashSet<>();
    /** Nodes of graphs before all marks that were not seen to be reached. */
    private long nodes;
    /** Time of copies and memsets before them. */
    private long movesNs;

    /**
     * Creates an empty backlog.
     *
     * @param boundNs returns the current bound on the time of a stream's queued work
     */
    Backlog(ProgressEvents events, MoveTime moves, NanoClock clock, LongSupplier boundNs) {
        this.events = events;
        this.moves = moves;
        this.clock = clock;
        this.boundNs = boundNs;
    }

    /** Counts a submission to a stream; returns whether it is time for {@link #mark}. */
    boolean submitted(ClientStream stream) {
        if (stream.sinceMark++ == 0) {
            stream.firstNs = clock.nanoTime();
        }
        return stream.sinceMark >= stream.step || stream.nodesSinceMark >= NODES_STEP || stream.movesNsSinceMark >= MOVES_STEP_NS;
    }

    /** Records an event that shows when a stream, which is not captured, has reached this point. Returns the event, else NONE. */
    long mark(ClientStream stream) {
        long event = events.record(stream.value);
        if (event == ProgressEvents.NONE) {
            return event; // the next submission tries again; an error of the context is found elsewhere
        }
        stream.marks.add(new ClientStream.Mark(event, stream.nodesSinceMark, stream.movesNsSinceMark, stream.sinceMark, stream.firstNs));
        stream.unreached += stream.sinceMark;
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
        long nowNs = clock.nanoTime();
        while (!stream.marks.isEmpty() && events.query(stream.marks.peek().event()) != CudaResult.NOT_READY) {
            reached(stream, stream.marks.poll(), nowNs);
        }
        if (!stream.marks.isEmpty()) {
            stream.waitedNs = nowNs;
        }
        return stream.unreached >= MOST_SUBMISSIONS || (nodes >= MOST_NODES || movesNs >= MOST_MOVES_NS) && !stream.marks.isEmpty()
                || isLong(stream, nowNs) || isHeld(stream, nowNs);
    }

    private boolean isHeld(ClientStream stream, long nowNs) {
        return stream.marks.isEmpty() && stream.submissionNs >= LONG_NS && nowNs - stream.reachedNs < Math.min(stream.submissionNs, LONGEST_HOLD_NS)
                && awaited.getAsBoolean() && !standing.getAsBoolean();
    }

    /**
     * Returns whether a stream's queued work exceeds its time: estimated from earlier submissions, or because the oldest one alone takes longer than all may. A
     * stream that may wait for its program, or for later work of the program, does not exceed it, because the program's records have to be read.
     */
    private boolean isLong(ClientStream stream, long nowNs) {
        if (stream.marks.size() < (awaited.getAsBoolean() ? 1 : 2)) {
            return false;
        }
        long mostNs = mostNs();
        long oldestNs = nowNs - begunNs(stream, stream.marks.peek());
        boolean many = stream.marks.size() >= MOST_EVENTS; // their time may not be known yet
        return (many || stream.unreached * stream.submissionNs > mostNs || oldestNs > mostNs) && oldestNs < UNMOVED_NS && !standing.getAsBoolean();
    }

    private long mostNs() {
        return awaited.getAsBoolean() ? Math.min(AWAITED_NS, boundNs.getAsLong()) : boundNs.getAsLong();
    }

    /**
     * Sets the tests that it makes.
     *
     * @param standsByRight  whether a stream of the client may rightfully wait for its program
     * @param othersNeedAll whether another client makes calls for which the driver waits for all queued work
     */
    void ask(BooleanSupplier standsByRight, BooleanSupplier othersNeedAll) {
        standing = standsByRight;
        awaited = othersNeedAll;
    }

    /** Returns whether a stream of the client may wait for its program by right. */
    boolean mayStand() {
        return standing.getAsBoolean();
    }

    private static long begunNs(ClientStream stream, ClientStream.Mark mark) {
        return Math.max(stream.reachedNs, mark.firstNs());
    }

    /** Records that a mark was reached, and the minimum time of its work: until the mark was last seen not to be reached. */
    private void reached(ClientStream stream, ClientStream.Mark mark, long nowNs) {
        double tookNs = Math.max(0, stream.waitedNs - begunNs(stream, mark));
        double eachNs = tookNs / mark.submissions();
        stream.submissionNs = Math.max(eachNs, KEPT * stream.submissionNs);
        stream.meanNs = KEPT * stream.meanNs + (1 - KEPT) * eachNs;
        // By the mean: a mark costs the device more than a kernel, so a mark behind each short kernel among some long ones would cost others time.
        stream.step = (int) Math.clamp(mostNs() / PARTS / Math.max(1, stream.meanNs), 1, STEP);
        stream.reachedNs = nowNs;
        reached(stream, mark);
    }

    private void reached(ClientStream stream, ClientStream.Mark mark) {
        stream.unreached -= mark.submissions();
        nodes -= mark.nodes();
        movesNs -= mark.movesNs();
        moves.add(-mark.movesNs());
        events.giveBack(mark.event());
    }

    /** Returns whether a stream has as much pending work as it may have. */
    boolean isFull() {
        if (!full.isEmpty()) {
            full.removeIf(stream -> !isFull(stream));
        }
        return !full.isEmpty();
    }

    /** Removes a stream that is about to be destroyed. */
    void forget(ClientStream stream) {
        full.remove(stream);
        stream.marks.forEach(mark -> reached(stream, mark));
        stream.marks.clear();
    }
}
