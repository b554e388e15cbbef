package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;

/**
 * In how many branches the nodes of a graph lie beside each other: what a driver needs time for when it makes an executable graph. Of 20,000 kernels of
 * which none waits for another it took 1.3 s, and of eight such graphs in turn 1.3 to 20.8 s (H200, driver 580): 55 us for each branch, and 7 ns more
 * for each branch of an executable graph that is there already. Stateless.
 */
final class GraphBranches {
    /** Of one graph: some 60 ms. Captured streams make one branch each, and one more wherever they part. */
    static final int MOST = 1024;
    /** Three arrays of that many elements are asked for. */
    private static final int MOST_EDGES = 2 * GraphSize.MOST_EDGES;

    private GraphBranches() {
    }

    /**
     * How many nodes of the driver's graph itself, without those of children, can go on where another ended that no other goes on from. What is left
     * begins a branch each. 0 where the driver does not tell.
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
