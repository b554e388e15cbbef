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
 * A capture: the graph that it writes, and for each stream that takes part the nodes that its next one waits for. Used
 * under the order lock of its context.
 */
public final class Capture {
    private static final AtomicLong NEXT_ID = new AtomicLong(1);

    private final long id = NEXT_ID.getAndIncrement();
    private final CaptureMode mode;
    private final Thread thread = Thread.currentThread();
    private final Stream origin;
    private final CudaGraph graph;
    private final boolean ownsGraph;
    private final Map<Stream, Map<GraphNode, Long>> frontier = new LinkedHashMap<>();
    private boolean invalidated;

    /** A point that an event stands for: these nodes are done. */
    record Point(Capture capture, Map<GraphNode, Long> nodes) implements Event.Captured {
    }

    Capture(Stream origin, CaptureMode mode, CudaGraph graph, boolean ownsGraph, Map<GraphNode, Long> first) {
        this.origin = origin;
        this.mode = mode;
        this.graph = graph;
        this.ownsGraph = ownsGraph;
        frontier.put(origin, new LinkedHashMap<>(first));
    }

    /** A number that no other capture has. */
    public long id() {
        return id;
    }

    /** Its mode. */
    CaptureMode mode() {
        return mode;
    }

    /** The thread that began it. */
    Thread thread() {
        return thread;
    }

    /** The stream that it began in. */
    Stream origin() {
        return origin;
    }

    /** What it writes. */
    public CudaGraph graph() {
        return graph;
    }

    /** Whether the graph was made for this capture. */
    boolean ownsGraph() {
        return ownsGraph;
    }

    /** Whether something was done that cannot be captured. */
    public boolean invalidated() {
        return invalidated;
    }

    void invalidate() {
        invalidated = true;
    }

    /** The streams that take part. */
    Set<Stream> streams() {
        return frontier.keySet();
    }

    /** What the stream's next node waits for. */
    public Map<GraphNode, Long> frontier(Stream stream) {
        return frontier.get(stream);
    }

    void setFrontier(Stream stream, Map<GraphNode, Long> nodes) {
        frontier.put(stream, new LinkedHashMap<>(nodes));
    }

    /** Adds a node at the end of a stream. */
    GraphNode add(Stream stream, Operation operation) {
        GraphNode node = graph.add(operation, frontier.get(stream));
        Map<GraphNode, Long> next = new LinkedHashMap<>();
        next.put(node, 0L);
        frontier.put(stream, next);
        return node;
    }

    /** What an event stands for that is recorded now. */
    Point point(Stream stream) {
        return new Point(this, new LinkedHashMap<>(frontier.get(stream)));
    }

    /** Lets a stream wait for a point; it takes part from now on. */
    void join(Stream stream, Point point) {
        frontier.computeIfAbsent(stream, _ -> new LinkedHashMap<>()).putAll(point.nodes());
    }

    /** Whether every stream's last nodes lead to what the origin would go on from. */
    boolean joined() {
        if (frontier.size() == 1) {
            return true;
        }
        Set<GraphNode> before = GraphNode.upTo(frontier.get(origin).keySet());
        return frontier.values().stream().allMatch(nodes -> before.containsAll(nodes.keySet()));
    }
}
