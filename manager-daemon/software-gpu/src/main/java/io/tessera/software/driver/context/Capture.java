package io.tessera.software.driver.context;

import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.GraphNode;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A capture: the graph that it writes, and for each stream that takes part, by its number, the nodes that its next one
 * waits for. Used under the order lock of its context.
 */
public final class Capture {
    private static final AtomicLong NEXT_ID = new AtomicLong(1);

    private final long id = NEXT_ID.getAndIncrement();
    private final CaptureMode mode;
    private final Thread thread = Thread.currentThread();
    private final long origin;
    private final CudaGraph graph;
    private final boolean ownsGraph;
    private final Map<Long, Map<GraphNode, Long>> frontier = new LinkedHashMap<>();
    private boolean blocking;
    private boolean invalidated;
    private boolean over;

    /** The meaning of an event in a capture: these nodes are done. */
    record Point(Capture capture, Map<GraphNode, Long> nodes) implements Event.Captured {
    }

    /**
     * Begins a capture.
     *
     * @param origin    number of the stream in which it begins
     * @param blocking  whether that is a blocking stream
     * @param ownsGraph whether the graph was made for it
     * @param first     nodes for which the first node waits
     */
    Capture(long origin, boolean blocking, CaptureMode mode, CudaGraph graph, boolean ownsGraph, Map<GraphNode, Long> first) {
        this.origin = origin;
        this.blocking = blocking;
        this.mode = mode;
        this.graph = graph;
        this.ownsGraph = ownsGraph;
        frontier.put(origin, new LinkedHashMap<>(first));
    }

    /** A number that no other capture has. */
    public long id() {
        return id;
    }

    /** Returns its mode. */
    CaptureMode mode() {
        return mode;
    }

    /** Returns the thread that began it. */
    Thread thread() {
        return thread;
    }

    /** Returns the number of the stream that it began in. */
    long origin() {
        return origin;
    }

    /** Returns the graph that it records. */
    public CudaGraph graph() {
        return graph;
    }

    /** Returns whether the graph was made for this capture. */
    boolean ownsGraph() {
        return ownsGraph;
    }

    /** Returns whether something was done that cannot be captured. */
    public boolean invalidated() {
        return invalidated;
    }

    void invalidate() {
        invalidated = true;
    }

    /** Returns whether it has ended: streams that took part do not capture any more. */
    boolean over() {
        return over;
    }

    void end() {
        over = true;
    }

    /** Returns whether a blocking stream takes part. */
    boolean blocking() {
        return blocking;
    }

    /** Returns the nodes for which the stream's next node waits. */
    public Map<GraphNode, Long> frontier(long stream) {
        return frontier.get(stream);
    }

    void setFrontier(long stream, Map<GraphNode, Long> nodes) {
        frontier.put(stream, new LinkedHashMap<>(nodes));
    }

    /** Adds a node at the end of a stream. */
    GraphNode add(long stream, Operation operation) {
        GraphNode node = graph.add(operation, frontier.get(stream));
        Map<GraphNode, Long> next = new LinkedHashMap<>();
        next.put(node, 0L);
        frontier.put(stream, next);
        return node;
    }

    /** Returns the meaning of an event that is recorded now. */
    Point point(long stream) {
        return new Point(this, new LinkedHashMap<>(frontier.get(stream)));
    }

    /** Lets a stream wait for a point; it takes part from now on. */
    void join(long stream, boolean isBlocking, Point point) {
        blocking |= isBlocking;
        frontier.computeIfAbsent(stream, _ -> new LinkedHashMap<>()).putAll(point.nodes());
    }

    /** Returns whether every stream's last nodes lead to what the origin would go on from. */
    boolean joined() {
        if (frontier.size() == 1) {
            return true;
        }
        Set<GraphNode> before = GraphNode.upTo(frontier.get(origin).keySet());
        return frontier.values().stream().allMatch(nodes -> before.containsAll(nodes.keySet()));
    }
}
