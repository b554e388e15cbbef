package io.tessera.executor.call.graph;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;

/**
 * Counts the parallel branches of a graph. The time that a driver needs to make an executable graph grows with them: for 20,000 parallel kernels it took
 * 1.3 s, and 20.8 s when seven such executable graphs existed already (H200, driver 580). That is some 55 us for each branch, plus 7 ns for each
 * existing branch. Stateless.
 */
final class GraphBranches {
    /** Bound on the branches of one graph: some 60 ms by these figures. A captured stream is one branch; each fork adds one. */
    static final int MOST = 1024;
    /** Maximum number of edges that are requested from the driver, in three arrays. */
    private static final int MOST_EDGES = 2 * GraphSize.MOST_EDGES;

    private GraphBranches() {
    }

    /**
     * Counts the nodes that continue a branch: each has a predecessor that no other node continues. All other nodes begin a branch of their own. Nodes of
     * children are not counted. Returns 0 if the driver does not list the edges.
     */
    static long continued(DriverCalls driver, long graph) {
        long count = ask(driver, graph, 0, 0, 0, driver.out(0)) == CudaResult.SUCCESS ? driver.outLong(0) : 0;
        if (count <= 0 || count > MOST_EDGES) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(ValueLayout.JAVA_LONG, count);
            MemorySegment to = arena.allocate(ValueLayout.JAVA_LONG, count);
            MemorySegment data = arena.allocate(ValueLayout.JAVA_LONG, count);
            long place = driver.out(0);
            driver.outMemory().set(ValueLayout.JAVA_LONG, 0, count);
            if (ask(driver, graph, from.address(), to.address(), data.address(), place) != CudaResult.SUCCESS) {
                return 0;
            }
            return matched(from, to, Math.min(count, driver.outLong(0)));
        }
    }

    private static int ask(DriverCalls driver, long graph, long from, long to, long data, long count) {
        int result = driver.call(DriverEntry.cuGraphGetEdges_v2, graph, from, to, data, count);
        return result == CudaResult.NOT_SUPPORTED ? driver.call(DriverEntry.cuGraphGetEdges, graph, from, to, count) : result;
    }

    private static long matched(MemorySegment from, MemorySegment to, long count) {
        Set<Long> followed = new HashSet<>();
        Set<Long> following = new HashSet<>();
        for (long i = 0; i < count; i++) {
            long before = from.getAtIndex(ValueLayout.JAVA_LONG, i);
            long after = to.getAtIndex(ValueLayout.JAVA_LONG, i);
            if (!followed.contains(before) && following.add(after)) {
                followed.add(before);
            }
        }
        return following.size();
    }
}
