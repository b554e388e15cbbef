package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.NodeParams;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.graph.GraphNode;
import io.tessera.software.driver.graph.MemoryAllocate;
import io.tessera.software.driver.graph.NodeType;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.Nothing;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;
import java.util.Map;
import java.util.function.Function;

/** Nodes added to graphs, and changed in them. */
public final class GraphNodeEntries implements EntryGroup {
    private final DriverState state;
    private final NodeParameters parameters;

    /** Creates an instance over a driver's state. */
    public GraphNodeEntries(DriverState state) {
        this.state = state;
        parameters = new NodeParameters(state);
    }

    @Override
    public void register(EntryTable table) {
        adds(table, DriverEntry.cuGraphAddKernelNode, call -> parameters.kernel(call.pointer(4), false, Map.of()));
        adds(table, DriverEntry.cuGraphAddKernelNode_v2, call -> parameters.kernel(call.pointer(4), true, Map.of()));
        adds(table, DriverEntry.cuGraphAddMemcpyNode, call -> parameters.copy(call.pointer(4)));
        adds(table, DriverEntry.cuGraphAddMemsetNode, call -> parameters.fill(call.pointer(4)));
        adds(table, DriverEntry.cuGraphAddHostNode, call -> NodeParameters.host(call.pointer(4)));
        adds(table, DriverEntry.cuGraphAddBatchMemOpNode, call -> parameters.words(call.pointer(4)));
        adds(table, DriverEntry.cuGraphAddEmptyNode, _ -> Nothing.INSTANCE);
        adds(table, DriverEntry.cuGraphAddChildGraphNode,
                call -> new ChildGraph(call.object(4, CudaGraph.class).copy()));
        adds(table, DriverEntry.cuGraphAddEventRecordNode, call -> new EventRecord(call.object(4, Event.class)));
        adds(table, DriverEntry.cuGraphAddEventWaitNode, call -> new EventWait(call.object(4, Event.class)));
        adds(table, DriverEntry.cuGraphAddMemAllocNode,
                call -> parameters.allocate(call.pointer(4), call.context()));
        adds(table, DriverEntry.cuGraphAddMemFreeNode, call -> parameters.free(call.word(4)));
        table.on(DriverEntry.cuGraphAddNode, call -> addAny(call, 0, 4, 3))
                .on(DriverEntry.cuGraphAddNode_v2, call -> addAny(call, call.word(3), 5, 4))
                .on(DriverEntry.cuGraphNodeSetParams, call -> {
                    long place = call.pointer(1);
                    set(call, parameters.of(HostMemory.getInt(place + NodeParams.TYPE), place + NodeParams.BODY,
                            call.context()));
                })
                .on(DriverEntry.cuGraphNodeGetType, call -> call.putInt(1, NodeType.of(node(call).operation()).number()));
        registerChanges(table);
    }

    private void registerChanges(EntryTable table) {
        table.on(DriverEntry.cuGraphMemcpyNodeSetParams, call -> set(call, parameters.copy(call.pointer(1))))
                .on(DriverEntry.cuGraphMemsetNodeSetParams, call -> set(call, parameters.fill(call.pointer(1))))
                .on(DriverEntry.cuGraphHostNodeSetParams, call -> set(call, NodeParameters.host(call.pointer(1))))
                .on(DriverEntry.cuGraphBatchMemOpNodeSetParams,
                        call -> set(call, parameters.words(call.pointer(1))))
                .on(DriverEntry.cuGraphEventRecordNodeSetEvent,
                        call -> set(call, new EventRecord(call.object(1, Event.class))))
                .on(DriverEntry.cuGraphEventWaitNodeSetEvent,
                        call -> set(call, new EventWait(call.object(1, Event.class))));
    }

    private static GraphNode node(Call call) {
        return call.object(0, GraphNode.class);
    }

    /** Entries that take: place for the node, graph, dependencies, how many, and parameters. */
    private void adds(EntryTable table, DriverEntry entry, Function<Call, Operation> parse) {
        table.on(entry, call -> add(call, parse.apply(call), 0, 3));
    }

    private void add(Call call, Operation operation, long edges, int countIndex) {
        long out = call.pointer(0);
        CudaGraph graph = call.object(1, CudaGraph.class);
        GraphNode node = graph.add(operation, GraphHandles.nodes(state, call.word(2), edges, call.word(countIndex)));
        HostMemory.putLong(out, state.handles().of(node));
    }

    private void addAny(Call call, long edges, int parametersIndex, int countIndex) {
        long place = call.pointer(parametersIndex);
        int type = HostMemory.getInt(place + NodeParams.TYPE);
        add(call, parameters.of(type, place + NodeParams.BODY, call.context()), edges, countIndex);
    }

    private static void set(Call call, Operation operation) {
        GraphNode node = node(call);
        DriverException.require(NodeType.of(operation) == NodeType.of(node.operation())
                && !(node.operation() instanceof MemoryAllocate), CudaError.INVALID_VALUE);
        node.setOperation(operation);
    }
}
