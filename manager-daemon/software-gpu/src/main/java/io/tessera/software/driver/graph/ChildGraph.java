package io.tessera.software.driver.graph;

import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Task;

/** A whole graph as one node. The graph is the node's own copy. */
public record ChildGraph(CudaGraph graph) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Task task) {
        throw new IllegalStateException("a launch replaces this by the graph's own nodes");
    }
}
