package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.GraphNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Edges of graphs. */
public final class GraphEdgeEntries implements EntryGroup {
    private record Edge(GraphNode from, GraphNode to, long data) {
    }

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public GraphEdgeEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuGraphAddDependencies, call -> connect(call, 0, call.word(3)))
                .on(DriverEntry.cuGraphAddDependencies_v2, call -> connect(call, call.word(3), call.word(4)))
                .on(DriverEntry.cuGraphRemoveDependencies, call -> disconnect(call, call.word(3)))
                .on(DriverEntry.cuGraphRemoveDependencies_v2, call -> disconnect(call, call.word(4)))
                .on(DriverEntry.cuGraphGetEdges, call -> edges(call, 0, call.word(3)))
                .on(DriverEntry.cuGraphGetEdges_v2, call -> edges(call, call.word(3), call.word(4)))
                .on(DriverEntry.cuGraphNodeGetDependencies,
                        call -> neighbours(node(call).dependencies(), call, 0, call.word(2)))
                .on(DriverEntry.cuGraphNodeGetDependencies_v2,
                        call -> neighbours(node(call).dependencies(), call, call.word(2), call.word(3)))
                .on(DriverEntry.cuGraphNodeGetDependentNodes,
                        call -> neighbours(node(call).dependents(), call, 0, call.word(2)))
                .on(DriverEntry.cuGraphNodeGetDependentNodes_v2,
                        call -> neighbours(node(call).dependents(), call, call.word(2), call.word(3)));
    }

    private static GraphNode node(Call call) {
        return call.object(0, GraphNode.class);
    }

    private GraphNode nodeAt(long place, long index) {
        return state.handles().get(HostMemory.getLong(place + 8 * index), GraphNode.class, CudaError.INVALID_VALUE);
    }

    private void connect(Call call, long data, long count) {
        CudaGraph graph = call.object(0, CudaGraph.class);
        for (long i = 0; i < count; i++) {
            graph.connect(nodeAt(call.pointer(1), i), nodeAt(call.pointer(2), i),
                    data == 0 ? 0 : HostMemory.getLong(data + 8 * i));
        }
    }

    private void disconnect(Call call, long count) {
        CudaGraph graph = call.object(0, CudaGraph.class);
        for (long i = 0; i < count; i++) {
            graph.disconnect(nodeAt(call.pointer(1), i), nodeAt(call.pointer(2), i));
        }
    }

    private void edges(Call call, long dataPlace, long countPlace) {
        List<Edge> edges = new ArrayList<>();
        for (GraphNode to : call.object(0, CudaGraph.class).nodes()) {
            to.dependencies().forEach((from, data) -> edges.add(new Edge(from, to, data)));
        }
        DriverException.require(countPlace != 0, CudaError.INVALID_VALUE);
        DriverException.require(call.given(1) == call.given(2), CudaError.INVALID_VALUE);
        if (call.given(1)) {
            checkPlain(dataPlace, edges.stream().map(Edge::data).toList());
            long room = HostMemory.getLong(countPlace);
            writeData(dataPlace, edges.stream().map(Edge::data).toList(), room);
            GraphHandles.write(state, edges.stream().map(Edge::from).toList(), call.word(1), countPlace);
            // The room is for both arrays, and the first one's count stands in its place now.
            HostMemory.putLong(countPlace, room);
        }
        GraphHandles.write(state, edges.stream().map(Edge::to).toList(), call.word(2), countPlace);
    }

    private static void checkPlain(long dataPlace, List<Long> data) {
        DriverException.require(dataPlace != 0 || data.stream().allMatch(edge -> edge == 0), CudaError.LOSSY_QUERY);
    }

    private static void writeData(long place, List<Long> data, long room) {
        for (int i = 0; place != 0 && i < Math.min(room, data.size()); i++) {
            HostMemory.putLong(place + 8L * i, data.get(i));
        }
    }

    private void neighbours(Map<GraphNode, Long> nodes, Call call, long dataPlace, long countPlace) {
        DriverException.require(countPlace != 0, CudaError.INVALID_VALUE);
        if (call.given(1)) {
            checkPlain(dataPlace, List.copyOf(nodes.values()));
            writeData(dataPlace, List.copyOf(nodes.values()), HostMemory.getLong(countPlace));
        }
        GraphHandles.write(state, nodes.keySet(), call.word(1), countPlace);
    }
}
