package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.graph.GraphNode;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** Arrays of nodes in the interface. */
final class GraphHandles {
    private GraphHandles() {
    }

    /** Reads nodes with their edges; no edges given are ordinary ones. */
    static Map<GraphNode, Long> nodes(DriverState state, long nodes, long edges, long count) {
        DriverException.require(count >= 0 && (count == 0 || nodes != 0), CudaError.INVALID_VALUE);
        Map<GraphNode, Long> read = new LinkedHashMap<>();
        for (long i = 0; i < count; i++) {
            GraphNode node = state.handles().get(HostMemory.getLong(nodes + 8 * i), GraphNode.class,
                    CudaError.INVALID_VALUE);
            long edge = edges == 0 ? 0 : HostMemory.getLong(edges + 8 * i);
            DriverException.require(read.put(node, edge) == null, CudaError.INVALID_VALUE);
        }
        return read;
    }

    /**
     * Writes nodes as the driver does: how many there are where no place is given; as many as fit, zeros behind them,
     * and how many were written where one is.
     */
    static void write(DriverState state, Collection<GraphNode> nodes, long place, long countPlace) {
        DriverException.require(countPlace != 0, CudaError.INVALID_VALUE);
        if (place == 0) {
            HostMemory.putLong(countPlace, nodes.size());
            return;
        }
        long room = HostMemory.getLong(countPlace);
        long i = 0;
        for (GraphNode node : nodes) {
            if (i < room) {
                HostMemory.putLong(place + 8 * i++, state.handles().of(node));
            }
        }
        for (long rest = i; rest < room; rest++) {
            HostMemory.putLong(place + 8 * rest, 0);
        }
        HostMemory.putLong(countPlace, i);
    }

    /** Forgets the handles of a graph and of all in it. */
    static void forget(DriverState state, CudaGraph graph) {
        for (GraphNode node : graph.nodes()) {
            state.handles().remove(node);
            if (node.operation() instanceof ChildGraph child) {
                forget(state, child.graph());
            }
        }
        state.handles().remove(graph);
    }
}
