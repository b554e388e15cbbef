package io.tessera.software.driver.entry.memory;

import io.tessera.software.driver.entry.Handles;
import io.tessera.software.driver.graph.Graph;
import io.tessera.software.driver.graph.GraphMemory;
import io.tessera.software.driver.graph.MemoryAllocate;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** How much memory allocation nodes hold. */
public final class GraphMemoryCount {
    private GraphMemoryCount() {
    }

    /** Bytes of all allocation nodes of all graphs that programs hold. */
    public static long bytes(Handles handles) {
        Set<GraphMemory> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        handles.each(Graph.class, graph -> graph.nodes().forEach(node -> {
            if (node.operation() instanceof MemoryAllocate allocate) {
                seen.add(allocate.memory());
            }
        }));
        return seen.stream().mapToLong(memory -> memory.allocation().bytes()).sum();
    }
}
