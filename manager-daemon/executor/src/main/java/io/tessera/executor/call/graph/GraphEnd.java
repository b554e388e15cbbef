package io.tessera.executor.call.graph;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Destroys graphs. A driver holds the context's lock while it frees every node, so a large graph loses its nodes one by one first, with others' calls
 * in between. Stateless.
 */
public final class GraphEnd {
    /** Nodes that one call frees: 3 us each at most (H200, driver 580), 25 ms together. */
    public static final int AT_ONCE = 8192;

    private GraphEnd() {
    }

    /** Destroys the driver's graph. Returns a CUresult. */
    public static int destroy(DriverCalls driver, long graph) {
        long count = driver.call(DriverEntry.cuGraphGetNodes, graph, 0, driver.out(0)) == CudaResult.SUCCESS ? driver.outLong(0) : 0;
        if (count > AT_ONCE) {
            thin(driver, graph, count);
        }
        return driver.call(DriverEntry.cuGraphDestroy, graph);
    }

    /** Removes nodes until few are left. A node that cannot be removed singly ends with its graph. */
    private static void thin(DriverCalls driver, long graph, long count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment nodes = arena.allocate(ValueLayout.JAVA_LONG, count);
            driver.outMemory().set(ValueLayout.JAVA_LONG, 0, count);
            int result = driver.call(DriverEntry.cuGraphGetNodes, graph, nodes.address(), driver.outMemory().address());
            long there = Math.min(count, driver.outLong(0));
            for (long i = 0; result == CudaResult.SUCCESS && i < there - AT_ONCE; i++) {
                result = driver.call(DriverEntry.cuGraphDestroyNode, nodes.getAtIndex(ValueLayout.JAVA_LONG, i));
            }
        }
    }
}
