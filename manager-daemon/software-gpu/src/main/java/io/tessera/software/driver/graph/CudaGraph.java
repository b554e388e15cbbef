package io.tessera.software.driver.graph;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.work.Operation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A graph as the program builds it. Not thread-safe: programs do not use a graph from two threads at once. */
public final class CudaGraph implements GraphNode.Owner {
    /** A whole graph as one node. The graph is the node's own copy. */
    public record ChildGraph(CudaGraph graph) implements Operation {
        @Override
        public Place place() {
            return Place.HERE;
        }

        @Override
        public boolean run(Run task) {
            throw new IllegalStateException("a launch replaces this by the graph's own nodes");
        }
    }

    private final Set<GraphNode> nodes = new LinkedHashSet<>();
    private final Map<UserObject, Long> userObjects = new LinkedHashMap<>();
    private final CudaGraph original;
    /** Nodes by the nodes of which they are copies; null: not requested yet. Nodes that are added later are not copies. */
    private Map<GraphNode, GraphNode> twins;
    private long nextId;

    /** An empty graph. */
    public CudaGraph() {
        this(null);
    }

    private CudaGraph(CudaGraph original) {
        this.original = original;
    }

    /** Returns the graph that this one is a copy of, null if it is none. */
    public CudaGraph original() {
        return original;
    }

    /** Returns all nodes, in the order of creation. */
    public Set<GraphNode> nodes() {
        return nodes;
    }

    /** Nodes that wait for none. */
    public List<GraphNode> roots() {
        return nodes.stream().filter(node -> node.dependencies().isEmpty()).toList();
    }

    /** Adds a node behind others of this graph. */
    public GraphNode add(Operation operation, Map<GraphNode, Long> dependencies) {
        DriverException.require(nodes.containsAll(dependencies.keySet()), CudaError.INVALID_VALUE);
        GraphNode node = new GraphNode(this, nextId++, operation, null);
        nodes.add(node);
        dependencies.forEach((from, edge) -> from.link(node, edge));
        return node;
    }

    /** Adds an edge; ends the entry with INVALID_VALUE if it is there, or would close a circle. */
    public void connect(GraphNode from, GraphNode to, long edge) {
        DriverException.require(nodes.contains(from) && nodes.contains(to) && from != to
                && !to.dependencies().containsKey(from), CudaError.INVALID_VALUE);
        DriverException.require(to.dependents().isEmpty() || !GraphNode.upTo(Set.of(from)).contains(to), CudaError.INVALID_VALUE);
        from.link(to, edge);
    }

    /** Takes an edge away; ends the entry with INVALID_VALUE if there is none. */
    public void disconnect(GraphNode from, GraphNode to) {
        DriverException.require(from.unlink(to), CudaError.INVALID_VALUE);
    }

    @Override
    public void remove(GraphNode node) {
        DriverException.require(nodes.remove(node), CudaError.INVALID_VALUE);
        List.copyOf(node.dependencies().keySet()).forEach(from -> from.unlink(node));
        List.copyOf(node.dependents().keySet()).forEach(node::unlink);
        releaseMemory(node);
    }

    /** Nodes so that each comes after all it waits for; among those that may, the older one first. */
    public List<GraphNode> inOrder() {
        Map<GraphNode, Integer> unmet = new HashMap<>();
        ArrayDeque<GraphNode> ready = new ArrayDeque<>();
        for (GraphNode node : nodes) {
            unmet.put(node, node.dependencies().size());
            if (node.dependencies().isEmpty()) {
                ready.add(node);
            }
        }
        List<GraphNode> ordered = new ArrayList<>(nodes.size());
        for (GraphNode node = ready.poll(); node != null; node = ready.poll()) {
            ordered.add(node);
            for (GraphNode next : node.dependents().keySet()) {
                if (unmet.merge(next, -1, Integer::sum) == 0) {
                    ready.add(next);
                }
            }
        }
        return ordered;
    }

    /** A copy, with copies of child graphs; memory and user objects are shared. */
    public CudaGraph copy() {
        CudaGraph copy = new CudaGraph(this);
        Map<GraphNode, GraphNode> byOriginal = new HashMap<>();
        for (GraphNode node : inOrder()) {
            GraphNode twin = new GraphNode(copy, copy.nextId++, copied(node.operation()), node);
            copy.nodes.add(twin);
            byOriginal.put(node, twin);
            node.dependencies().forEach((from, edge) -> byOriginal.get(from).link(twin, edge));
        }
        userObjects.forEach(copy::retain);
        return copy;
    }

    private static Operation copied(Operation operation) {
        return switch (operation) {
            case ChildGraph child -> new ChildGraph(child.graph().copy());
            case MemoryAllocate allocate -> {
                allocate.memory().retain();
                yield allocate;
            }
            default -> operation;
        };
    }

    /** Returns the copy of a node of the original; null if it is gone. */
    public GraphNode copyOf(GraphNode node) {
        if (twins == null) {
            twins = new HashMap<>();
            nodes.forEach(twin -> twins.put(twin.original(), twin));
        }
        GraphNode twin = twins.get(node);
        return twin != null && nodes.contains(twin) ? twin : null;
    }

    /** Adds references to a user object. */
    public void retain(UserObject object, long count) {
        object.retain(count);
        adopt(object, count);
    }

    /** Takes over references of the program. */
    public void adopt(UserObject object, long count) {
        userObjects.merge(object, count, Long::sum);
    }

    /** Drops references that this graph holds; true if the object went with the last of all. */
    public boolean release(UserObject object, long count) {
        long held = userObjects.getOrDefault(object, 0L);
        DriverException.require(count > 0 && count <= held, CudaError.INVALID_VALUE);
        if (held == count) {
            userObjects.remove(object);
        } else {
            userObjects.put(object, held - count);
        }
        return object.release(count);
    }

    /** Releases all its objects. */
    public void destroy() {
        nodes.forEach(CudaGraph::releaseMemory);
        nodes.clear();
        userObjects.forEach(UserObject::release);
        userObjects.clear();
    }

    private static void releaseMemory(GraphNode node) {
        switch (node.operation()) {
            case MemoryAllocate allocate -> allocate.memory().release();
            case ChildGraph child -> child.graph().destroy();
            default -> {}
        }
    }
}
