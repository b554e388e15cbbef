package io.tessera.executor.call;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How large a graph, executable graph or node is for the driver that keeps it: nodes, those of children and bodies too, the bytes of
 * their parameters and edges, and how deeply graphs lie in graphs. Attached to its handle. One owner thread.
 */
final class GraphSize {
    long nodes;
    long bytes;
    /** 1: no graph lies in it. */
    int depth = 1;
    /** Parameters that were changed in an executable graph, by the node's handle; null: none. */
    private Map<Long, Long> changed;
    /** Conditions that were made for a graph; null: none. */
    private List<Long> conditions;

    GraphSize(long nodes, long bytes, int depth) {
        this.nodes = nodes;
        this.bytes = bytes;
        this.depth = depth;
    }

    GraphSize copy() {
        return new GraphSize(nodes, bytes, depth);
    }

    /** Bytes that parameters of a node add to an executable graph: where they were changed before, what they exceed that by. */
    long growth(long node, long parameterBytes) {
        long known = changed == null ? 0 : changed.getOrDefault(node, 0L);
        return Math.max(0, parameterBytes - known);
    }

    void change(long node, long parameterBytes) {
        if (changed == null) {
            changed = new HashMap<>();
        }
        changed.merge(node, parameterBytes, Math::max);
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
