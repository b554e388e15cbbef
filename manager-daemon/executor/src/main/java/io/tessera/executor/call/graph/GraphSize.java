package io.tessera.executor.call.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Size of a graph, executable graph or node in the driver: nodes, those of children and bodies included, the bytes of their parameters, edges, and the depth to
 * which graphs are nested. Attached to its handle.
 *
 * <p>Many driver calls work on a whole graph (clone, instantiate, update, launch, destroy), and a driver holds the context's lock meanwhile. So the size of
 * each graph is bounded, see {@link #refusal}. One owner thread.
 */
final class GraphSize {
    /** Advice for a graph that is too large; the end of a line. */
    static final String REMEDY = "; make several graphs of it and launch them one after the other";
    /**
     * Nodes of one graph. Clones, destructions and the executor's own accounting of 20,000 nodes took 3 us a node at most (H200, driver 580), so a call takes
     * some 0.2 s at most. Programs of PyTorch and JAX have graphs of up to some 50,000 nodes.
     */
    static final int MOST_NODES = 1 << 16;
    /** Edges of one graph: four for each node that it may have. */
    static final int MOST_EDGES = 4 * MOST_NODES;
    /** Bytes of parameters of each node that do not count against {@link #MOST_LARGE_BYTES}: as many as most kernels have. */
    static final int PLAIN_BYTES = 256;
    /**
     * Bytes of parameters of one graph beyond {@link #PLAIN_BYTES} a node. Executable graphs of 2,000 parallel kernels with 4 KB each took 107 to 170 ms to
     * make (H200, driver 580), most of it for the branches. It is enough for 20,000 kernels with 600 bytes, or 2,000 with 4 KB.
     */
    static final int MOST_LARGE_BYTES = 8 << 20;
    /** Bound on the time of copies and memsets of one graph: they cannot be ended once launched, and leave less memory bandwidth to all others meanwhile. */
    static final long MOST_MOVES_NS = 2_000_000_000L;
    /** Memory of an edge, at both of its ends. */
    private static final long EDGE_BYTES = 256;

    long nodes;
    /** Bytes of parameters. */
    long bytes;
    long edges;
    /** Part of {@link #bytes} beyond the fixed cost of each node. */
    long largeBytes;
    /** Part of {@link #nodes} inside of children that continue where another node of the same child ended; at most this many. */
    long continued;
    /** Number of parallel branches of an executable graph. */
    long branches = 1;
    /** The time of its copies and memsets ({@link io.tessera.executor.stream.MoveTime}). */
    long movesNs;
    /** Depth of nesting; 1: no graph in it. */
    int depth = 1;
    /** Parameters that were changed in an executable graph, by the node's handle; null: none. */
    private Map<Long, GraphSize> changed;
    /** Conditions that were made for a graph; null: none. */
    private List<Long> conditions;

    /** Returns the size of nodes with all their parameters, each with this many edges. */
    static GraphSize of(long nodes, long bytes, long edges) {
        GraphSize size = new GraphSize();
        size.nodes = nodes;
        size.bytes = bytes;
        size.edges = edges;
        size.largeBytes = Math.max(0, bytes - Math.max(1, nodes) * PLAIN_BYTES);
        return size;
    }

    GraphSize copy() {
        GraphSize copy = new GraphSize().plus(this);
        copy.depth = depth;
        return copy;
    }

    /** Adds another size, without its depth. Returns this object. */
    GraphSize plus(GraphSize other) {
        nodes += other.nodes;
        bytes += other.bytes;
        edges += other.edges;
        largeBytes += other.largeBytes;
        continued += other.continued;
        movesNs += other.movesNs;
        return this;
    }

    /** Subtracts another size. */
    void minus(GraphSize other) {
        nodes -= other.nodes;
        bytes -= other.bytes;
        edges -= other.edges;
        largeBytes -= other.largeBytes;
        continued -= other.continued;
        movesNs -= other.movesNs;
    }

    /** Limits each figure to that of another size. */
    void atMost(GraphSize other) {
        nodes = Math.min(nodes, other.nodes);
        bytes = Math.min(bytes, other.bytes);
        edges = Math.min(edges, other.edges);
        largeBytes = Math.min(largeBytes, other.largeBytes);
        continued = Math.min(continued, other.continued);
        movesNs = Math.min(movesNs, other.movesNs);
    }

    /** Returns its parameters and edges beyond another's; no nodes. */
    GraphSize beyond(GraphSize other) {
        GraphSize more = new GraphSize();
        more.bytes = Math.max(0, bytes - other.bytes);
        more.edges = Math.max(0, edges - other.edges);
        more.largeBytes = Math.max(0, largeBytes - other.largeBytes);
        more.movesNs = Math.max(0, movesNs - other.movesNs);
        return more;
    }

    /** Returns the host memory that its parameters and edges are assumed to need. */
    long hostBytes() {
        return bytes + edges * EDGE_BYTES;
    }

    /** Returns why a graph of this size may not grow by this much; null if it may. */
    String refusal(GraphSize by) {
        if (by.nodes > 0 && nodes + by.nodes > MOST_NODES) {
            return "a graph may have " + MOST_NODES + " nodes with those of its children, and this one has " + nodes + REMEDY;
        }
        if (by.edges > 0 && edges + by.edges > MOST_EDGES) {
            return "a graph may have " + MOST_EDGES + " edges, and this one has " + edges + REMEDY;
        }
        if (by.largeBytes > 0 && largeBytes + by.largeBytes > MOST_LARGE_BYTES) {
            return "the nodes of a graph may have " + PLAIN_BYTES + " bytes of parameters each and " + (MOST_LARGE_BYTES >> 20)
                    + " MiB more together, and those of this one have " + largeBytes + " bytes more: everybody waits while a driver copies them"
                    + REMEDY;
        }
        if (by.movesNs > 0 && movesNs + by.movesNs > MOST_MOVES_NS) {
            return "the copies and memsets of a graph may take this device " + MOST_MOVES_NS / 1_000_000_000L
                    + " s at its best, and those of this one take "
                    + (movesNs + by.movesNs) / 1_000_000L + " ms: nobody can end them" + REMEDY;
        }
        return null;
    }

    /** Returns the size that new parameters of a node add to an executable graph: if they were changed before, only the excess over those. */
    GraphSize growth(long node, GraphSize parameters) {
        GraphSize known = changed == null ? null : changed.get(node);
        return parameters.beyond(known == null ? new GraphSize() : known);
    }

    void change(long node, GraphSize parameters) {
        if (changed == null) {
            changed = new HashMap<>();
        }
        changed.merge(node, parameters, (known, now) -> known.plus(now.beyond(known)));
    }

    void condition(long value) {
        if (conditions == null) {
            conditions = new ArrayList<>();
        }
        conditions.add(value);
    }

    List<Long> conditions() {
        return conditions == null ? List.of() : conditions;
    }
}
