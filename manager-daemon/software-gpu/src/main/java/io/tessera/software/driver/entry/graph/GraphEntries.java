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
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.graph.GraphNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Graphs as a whole. */
public final class GraphEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public GraphEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuGraphCreate, call -> {
            DriverException.require(call.number(1) == 0, CudaError.INVALID_VALUE);
            call.putLong(0, state.handles().of(new CudaGraph()));
        }).on(DriverEntry.cuGraphDestroy, call -> {
            CudaGraph graph = graph(call, 0);
            GraphHandles.forget(state, graph);
            graph.destroy();
        }).on(DriverEntry.cuGraphClone, call -> {
            long out = call.pointer(0);
            HostMemory.putLong(out, state.handles().of(graph(call, 1).copy()));
        }).on(DriverEntry.cuGraphNodeFindInClone, call -> {
            GraphNode original = call.object(1, GraphNode.class);
            GraphNode found = graph(call, 2).copyOf(original);
            DriverException.require(found != null, CudaError.INVALID_VALUE);
            call.putLong(0, state.handles().of(found));
        }).on(DriverEntry.cuGraphGetNodes,
                call -> GraphHandles.write(state, graph(call, 0).nodes(), call.word(1), call.word(2)))
                .on(DriverEntry.cuGraphGetRootNodes,
                        call -> GraphHandles.write(state, graph(call, 0).roots(), call.word(1), call.word(2)))
                .on(DriverEntry.cuGraphDestroyNode, call -> {
                    GraphNode node = call.object(0, GraphNode.class);
                    if (node.operation() instanceof ChildGraph child) {
                        GraphHandles.forget(state, child.graph());
                    }
                    node.owner().remove(node);
                    state.handles().remove(node);
                })
                .on(DriverEntry.cuGraphDebugDotPrint, this::print);
    }

    private static CudaGraph graph(Call call, int index) {
        return call.object(index, CudaGraph.class);
    }

    private void print(Call call) {
        CudaGraph graph = graph(call, 0);
        StringBuilder dot = new StringBuilder("digraph dot {\n");
        for (GraphNode node : graph.nodes()) {
            dot.append("\"node_").append(node.id()).append("\" [shape=\"rectangle\" label=\"").append(node.id())
                    .append('\\').append('n').append(GraphLabels.of(node.operation())).append("\"];\n");
            node.dependencies().keySet().forEach(from -> dot.append("\"node_").append(from.id())
                    .append("\" -> \"node_").append(node.id()).append("\";\n"));
        }
        try {
            Files.writeString(Path.of(call.text(1)), dot.append("}\n"));
        } catch (IOException | UncheckedIOException e) {
            throw new DriverException(CudaError.OPERATING_SYSTEM, e.toString());
        }
    }
}
