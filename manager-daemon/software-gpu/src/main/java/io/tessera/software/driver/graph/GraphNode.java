package io.tessera.software.driver.graph;

import io.tessera.software.driver.work.Operation;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** A node of a graph. Not thread-safe, as graphs are not. */
public final class GraphNode {
    /** Owner of nodes. */
    public interface Owner {
        /** Takes a node of its own and the node's edges away. */
        void remove(GraphNode node);
    }

    private final Owner owner;
    private final GraphNode original;
    private final long id;
    /** Made with the first edge: most nodes of large graphs have few. */
    private Map<GraphNode, Long> dependencies = Map.of();
    private Map<GraphNode, Long> dependents = Map.of();
    private Operation operation;

    GraphNode(Owner owner, long id, Operation operation, GraphNode original) {
        this.owner = owner;
        this.id = id;
        this.operation = operation;
        this.original = original;
    }

    /** Returns its owner. */
    public Owner owner() {
        return owner;
    }

    /** Returns the node that this one is a copy of, null if it is none. */
    public GraphNode original() {
        return original;
    }

    /** Returns its number in its graph, in the order of creation. */
    public long id() {
        return id;
    }

    /** Returns its operation. */
    public Operation operation() {
        return operation;
    }

    /** Changes what it does. */
    public void setOperation(Operation next) {
        operation = next;
    }

    /** Returns the nodes for which it waits, with the eight bytes of CUgraphEdgeData; must not be modified. */
    public Map<GraphNode, Long> dependencies() {
        return dependencies;
    }

    /** Returns the nodes that wait for it; must not be modified. */
    public Map<GraphNode, Long> dependents() {
        return dependents;
    }

    /** Adds an edge to a node that is to wait for this one. */
    void link(GraphNode to, long edge) {
        if (dependents.isEmpty()) {
            dependents = new LinkedHashMap<>(2);
        }
        if (to.dependencies.isEmpty()) {
            to.dependencies = new LinkedHashMap<>(2);
        }
        to.dependencies.put(this, edge);
        dependents.put(to, edge);
    }

    /** Takes an edge away; false if there is none. */
    boolean unlink(GraphNode to) {
        if (!to.dependencies.containsKey(this)) {
            return false;
        }
        to.dependencies.remove(this);
        dependents.remove(to);
        return true;
    }

    /** These nodes and all that they wait for, over however many others. */
    public static Set<GraphNode> upTo(Collection<GraphNode> nodes) {
        Set<GraphNode> found = new HashSet<>(nodes);
        ArrayDeque<GraphNode> left = new ArrayDeque<>(nodes);
        for (GraphNode node = left.poll(); node != null; node = left.poll()) {
            for (GraphNode before : node.dependencies.keySet()) {
                if (found.add(before)) {
                    left.add(before);
                }
            }
        }
        return found;
    }
}
