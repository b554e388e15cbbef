package io.tessera.software.driver.graph;

import io.tessera.software.driver.work.Operation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** A node of a graph. Not thread-safe, as graphs are not. */
public final class GraphNode {
    private final Graph graph;
    private final GraphNode original;
    private final long id;
    private final Map<GraphNode, Long> dependencies = new LinkedHashMap<>();
    private final Map<GraphNode, Long> dependents = new LinkedHashMap<>();
    private Operation operation;

    GraphNode(Graph graph, long id, Operation operation, GraphNode original) {
        this.graph = graph;
        this.id = id;
        this.operation = operation;
        this.original = original;
    }

    /** Whose it is. */
    public Graph graph() {
        return graph;
    }

    /** The node that this one is a copy of, null if it is none. */
    public GraphNode original() {
        return original;
    }

    /** Its number in its graph, in the order of making. */
    public long id() {
        return id;
    }

    /** What it does. */
    public Operation operation() {
        return operation;
    }

    /** Changes what it does. */
    public void setOperation(Operation next) {
        operation = next;
    }

    /** Its type. */
    public NodeType type() {
        return NodeType.of(operation);
    }

    /** What it waits for, with the eight bytes of CUgraphEdgeData. */
    public Map<GraphNode, Long> dependencies() {
        return dependencies;
    }

    /** What waits for it. */
    public Map<GraphNode, Long> dependents() {
        return dependents;
    }

    /** Whether some of these nodes are this one or wait for it, over however many others. */
    public boolean leadsTo(Set<GraphNode> targets, Set<GraphNode> seen) {
        if (targets.contains(this)) {
            return true;
        }
        return seen.add(this) && dependents.keySet().stream().anyMatch(next -> next.leadsTo(targets, seen));
    }
}
