package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.InstantiateFlag;
import io.tessera.device.CudaLayouts.CUDA_GRAPH_INSTANTIATE_PARAMS;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow.Pause;
import io.tessera.executor.call.CallRow.StreamUse;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.StructureTranslation;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Whole graphs: creation, copies, instantiation, launch, destruction. One owner thread. */
final class GraphCalls {
    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final ClientFences fences;
    private final GraphBook graphs;
    private final GraphMemory memory;
    private final GraphMemoryCalls memoryCalls;
    private final StructureTranslation structures;
    private final ClusterNodes clusters;

    GraphCalls(ClientExecution execution, GraphMemory memory, GraphBook graphs, GraphMemoryCalls memoryCalls, StructureTranslation structures,
            ClusterNodes clusters) {
        this.driver = execution.driver();
        this.handles = execution.handles();
        this.streams = execution.streams();
        this.fences = execution.fences();
        this.memory = memory;
        this.graphs = graphs;
        this.memoryCalls = memoryCalls;
        this.structures = structures;
        this.clusters = clusters;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuGraphCreate).ofGraphs();
        graphs.ends(calls.row(DriverApi.cuGraphDestroy).ofGraphs().ends(HandleKind.GRAPH))
                .executes((frame, _) -> GraphEnd.destroy(driver, frame.slot(0)));
        graphs.copies(calls.row(DriverApi.cuGraphClone).ofGraphs().parent(_ -> 0)
                .records(frame -> memoryCalls.partOf(frame.slot(1), handles.value(HandleKind.GRAPH, frame.data(0).get(WireTypes.U64, 0)))));
        graphs.addsChild(calls.row(DriverApi.cuGraphAddChildGraphNode).ofGraphs().records(frame -> memoryCalls.partOf(frame.slot(4), frame.slot(1))));
        graphs.namesChild(calls.row(DriverApi.cuGraphChildGraphNodeGetGraph).ofGraphs());
        graphs.addsEdges(calls.row(DriverApi.cuGraphAddDependencies).ofGraphs());
        graphs.removesEdges(calls.row(DriverApi.cuGraphRemoveDependencies).ofGraphs());
        graphs.instantiates(calls.row(DriverApi.cuGraphInstantiate).ofGraphs().stream(StreamUse.STATE)
                .records(frame -> made(frame, frame.parameters() == 3 && (frame.slot(2) & InstantiateFlag.AUTO_FREE_ON_LAUNCH) != 0)));
        graphs.instantiates(calls.row(DriverApi.cuGraphInstantiateWithParams).ofGraphs().stream(StreamUse.STATE).executes(this::instantiate)
                .records(frame -> made(frame, (frame.data(2).get(WireTypes.U64, 0) & InstantiateFlag.AUTO_FREE_ON_LAUNCH) != 0)));
        graphs.updates(calls.row(DriverApi.cuGraphExecUpdate).ofGraphs().executes(this::update).records(this::updated));
        calls.row(DriverApi.cuGraphLaunch).ofGraphs().occupiesDevice().pauses(Pause.IN_GRAPH)
                .captures(frame -> graphs.capturedGraph(frame.stream(), frame.argument(0)))
                .executes(memoryCalls::launch).submits(this::launched);
        calls.row(DriverApi.cuGraphUpload).ofGraphs().stream(StreamUse.STATE);
        calls.row(DriverApi.cuGraphExecDestroy).ofGraphs().ends(HandleKind.GRAPH_EXEC);
        for (DriverApi api : List.of(DriverApi.cuGraphExecGetFlags, DriverApi.cuGraphGetEdges, DriverApi.cuGraphGetNodes,
                DriverApi.cuGraphGetRootNodes,
                DriverApi.cuGraphRetainUserObject, DriverApi.cuGraphReleaseUserObject)) {
            calls.row(api).ofGraphs();
        }
        calls.plain(DriverApi.cuUserObjectRetain, DriverApi.cuUserObjectRelease);
    }

    private void made(CallFrame frame, boolean freesOnLaunch) {
        if (!memory.isEmpty()) {
            memory.executable(handles.value(HandleKind.GRAPH_EXEC, frame.data(0).get(WireTypes.U64, 0)), frame.slot(1), freesOnLaunch);
        }
    }

    private void updated(CallFrame frame) {
        if (!memory.isEmpty()) {
            memory.executable(frame.slot(0), frame.slot(1), false);
        }
    }

    /** Parameters: executable graph, stream. */
    private void launched(CallFrame frame) {
        if (!streams.isCapturing(frame.stream())) {
            fences.watchdog().graphLaunched(frame.stream().value());
            streams.graph(frame.stream(), graphs.nodes(frame.argument(0)), graphs.movesNs(frame.argument(0)));
        }
    }

    /** Parameters: executable graph, graph, and where it did not fit: a node, or a structure with two. */
    private int update(CallFrame frame, ClientContext context) {
        clusters.updates();
        int result = driver.call(frame.entry(), frame.slots());
        boolean structure = frame.type(2).equals("CUgraphExecUpdateResultInfo");
        if (structure && frame.data(2) != null) {
            structures.out(frame.data(2), "CUgraphExecUpdateResultInfo", frame.argument(1), frame.contextNumber());
        } else if (result != CudaResult.SUCCESS && frame.data(2) != null) {
            frame.data(2).set(WireTypes.U64, 0, 0); // a handle of the driver's, which is not translated after an error
        }
        return result;
    }

    /** Parameters: executable graph, graph, and a structure with a stream and where it went wrong. */
    private int instantiate(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment asked = frame.required(2);
        structures.in(asked, "CUDA_GRAPH_INSTANTIATE_PARAMS");
        asked.set(WireTypes.U64, CUDA_GRAPH_INSTANTIATE_PARAMS.hErrNode_out, 0);
        int result = driver.call(frame.entry(), frame.slots());
        structures.out(asked, "CUDA_GRAPH_INSTANTIATE_PARAMS", frame.argument(1), frame.contextNumber());
        return result;
    }
}
