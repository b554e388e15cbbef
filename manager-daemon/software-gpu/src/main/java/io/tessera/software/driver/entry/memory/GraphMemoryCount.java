package io.tessera.software.driver.entry.memory;

import io.tessera.software.driver.entry.DriverHandles;
import io.tessera.software.driver.graph.AllocationNodeMemory;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.MemoryAllocate;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** Amount of memory that allocation nodes hold. */
public final class GraphMemoryCount {
    private GraphMemoryCount() {
    }

    /** Bytes of all allocation nodes of all graphs that programs hold. */
    public static long bytes(DriverHandles handles) {
        Set<AllocationNodeMemory> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        handles.each(CudaGraph.class, graph -> graph.nodes().forEach(node -> {
            if (node.operation() instanceof MemoryAllocate allocate) {
                seen.add(allocate.memory());
            }
        }));
        return seen.stream().mapToLong(memory -> memory.allocation().bytes()).sum();
    }
}
