package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_CHILD_GRAPH_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_CONDITIONAL_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_HOST_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_MEM_FREE_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUgraphNodeParams;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.StructureTranslation;
import io.tessera.executor.call.graph.NodeMoves.Content;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/** Entries that make and change nodes of graphs. One owner thread. */
final class NodeCalls {
    private final DriverCalls driver;
    private final ClientFences fences;
    private final GraphBook graphs;
    private final StructureTranslation structures;
    private final NodeStructures nodes;
    private final GraphMemoryCalls memory;
    private final HandleResults results;
    private final ClusterNodes clusters;

    private enum Change {
        ADDED, SET, SET_IN_EXECUTABLE
    }

    NodeCalls(DriverCalls driver, ClientFences fences, GraphBook graphs, CallChecks checks, NodeStructures nodes, GraphMemoryCalls memory,
            ClusterNodes clusters) {
        this.driver = driver;
        this.fences = fences;
        this.graphs = graphs;
        this.structures = checks.structures();
        this.results = checks.results();
        this.nodes = nodes;
        this.memory = memory;
        this.clusters = clusters;
    }

    void register(CallTable calls) {
        adding(calls);
        changing(calls);
        changingExecutables(calls);
        calls.row(DriverApi.cuGraphKernelNodeSetAttribute).ofGraphs().executes(this::attribute);
        calls.row(DriverApi.cuGraphKernelNodeCopyAttributes).ofGraphs().executes(this::copyAttributes);
        calls.row(DriverApi.cuGraphConditionalHandleCreate).ofGraphs().executes(this::condition);
        calls.row(DriverApi.cuGraphEventRecordNodeSetEvent).ofGraphs();
        calls.row(DriverApi.cuGraphEventWaitNodeSetEvent).ofGraphs();
        calls.row(DriverApi.cuGraphExecEventRecordNodeSetEvent).ofGraphs();
        calls.row(DriverApi.cuGraphExecEventWaitNodeSetEvent).ofGraphs();
        calls.row(DriverApi.cuGraphNodeSetEnabled).ofGraphs();
        graphs.ends(calls.row(DriverApi.cuGraphDestroyNode).ofGraphs().ends(HandleKind.GRAPH_NODE));
    }

    private void adding(CallTable calls) {
        graphs.addsNode(packed(calls, DriverApi.cuGraphAddKernelNode), Content.NOTHING).executes((frame, _) -> kernel(frame, Change.ADDED));
        graphs.addsNode(calls.row(DriverApi.cuGraphAddMemcpyNode).ofGraphs(), Content.COPY).executes(this::copy);
        graphs.addsNode(calls.row(DriverApi.cuGraphAddMemsetNode).ofGraphs(), Content.MEMSET).executes(this::memset);
        graphs.addsNode(packed(calls, DriverApi.cuGraphAddHostNode), Content.NOTHING)
                .executes((frame, _) -> host(frame, DriverEntry.cuGraphAddBatchMemOpNode));
        graphs.addsNode(packed(calls, DriverApi.cuGraphAddBatchMemOpNode), Content.NOTHING).executes(this::operations);
        graphs.addsNode(packed(calls, DriverApi.cuGraphAddMemAllocNode), Content.NOTHING).executes(this::allocation);
        graphs.addsNode(calls.row(DriverApi.cuGraphAddMemFreeNode).ofGraphs(), Content.NOTHING).executes(memory::freeNode);
        graphs.addsAnyNode(packed(calls, DriverApi.cuGraphAddNode)).executes((frame, context) -> any(frame, context, Change.ADDED));
        graphs.addsNode(calls.row(DriverApi.cuGraphAddEmptyNode).ofGraphs(), Content.NOTHING);
        graphs.addsNode(calls.row(DriverApi.cuGraphAddEventRecordNode).ofGraphs(), Content.NOTHING);
        graphs.addsNode(calls.row(DriverApi.cuGraphAddEventWaitNode).ofGraphs(), Content.NOTHING);
    }

    private void changing(CallTable calls) {
        graphs.changesNode(packed(calls, DriverApi.cuGraphKernelNodeSetParams), Content.NOTHING).executes((frame, _) -> kernel(frame, Change.SET));
        graphs.changesNode(calls.row(DriverApi.cuGraphMemcpyNodeSetParams).ofGraphs(), Content.COPY).executes(this::copy);
        graphs.changesNode(calls.row(DriverApi.cuGraphMemsetNodeSetParams).ofGraphs(), Content.MEMSET).executes(this::memset);
        graphs.changesNode(packed(calls, DriverApi.cuGraphHostNodeSetParams), Content.NOTHING)
                .executes((frame, _) -> host(frame, DriverEntry.cuGraphBatchMemOpNodeSetParams));
        graphs.changesNode(packed(calls, DriverApi.cuGraphBatchMemOpNodeSetParams), Content.NOTHING).executes(this::operations);
        graphs.changesNode(packed(calls, DriverApi.cuGraphNodeSetParams), Content.ANY).executes((frame, context) -> any(frame, context, Change.SET));
    }

    private void changingExecutables(CallTable calls) {
        graphs.changesExecutable(packed(calls, DriverApi.cuGraphExecKernelNodeSetParams), Content.NOTHING)
                .executes((frame, _) -> kernel(frame, Change.SET_IN_EXECUTABLE));
        graphs.changesExecutable(calls.row(DriverApi.cuGraphExecMemcpyNodeSetParams).ofGraphs(), Content.COPY).executes(this::copy);
        graphs.changesExecutable(calls.row(DriverApi.cuGraphExecMemsetNodeSetParams).ofGraphs(), Content.MEMSET).executes(this::memset);
        graphs.changesExecutable(packed(calls, DriverApi.cuGraphExecHostNodeSetParams), Content.NOTHING)
                .executes((frame, _) -> host(frame, DriverEntry.cuGraphExecBatchMemOpNodeSetParams));
        graphs.changesExecutable(packed(calls, DriverApi.cuGraphExecBatchMemOpNodeSetParams), Content.NOTHING).executes(this::operations);
        graphs.changesExecutable(packed(calls, DriverApi.cuGraphExecNodeSetParams), Content.ANY)
                .executes((frame, context) -> any(frame, context, Change.SET_IN_EXECUTABLE));
        graphs.changesChildOfExecutable(calls.row(DriverApi.cuGraphExecChildGraphNodeSetParams).ofGraphs());
    }

    private static CallRow packed(CallTable calls, DriverApi api) {
        return calls.row(api).ofGraphs().packed("nodeParams");
    }

    /** Returns the parameter that is a node's structure. */
    private static int structureOf(CallFrame frame) {
        int i = frame.lastPointer();
        if (i < 0) {
            throw new IllegalStateException(frame.entry() + " has no structure");
        }
        return i;
    }

    private static MemorySegment followers(CallFrame frame, int i, long bytes) throws RejectedException {
        MemorySegment data = frame.required(i);
        if (frame.inBytes(i) < bytes) {
            throw CallFrame.malformed("a node of " + frame.inBytes(i) + " bytes");
        }
        return data.asSlice(bytes, frame.inBytes(i) - bytes);
    }

    private int call(CallFrame frame) {
        return driver.call(frame.entry(), frame.slots());
    }

    private int kernel(CallFrame frame, Change change) throws RejectedException {
        int i = structureOf(frame);
        int bytes = ((ParameterDescription.Pointer) frame.shape(i)).elementBytes();
        MemorySegment parameters = followers(frame, i, bytes);
        long clientHandle = NodeStructures.kernelOf(frame.data(i).asSlice(0, bytes));
        structures.in(frame.data(i), frame.type(i));
        nodes.kernel(frame, frame.data(i), parameters);
        nodes.mayRun(clientHandle, frame.data(i).asSlice(0, bytes), parameters);
        changes(frame, change, clientHandle, NodeStructures.kernelOf(frame.data(i).asSlice(0, bytes)));
        return call(frame);
    }

    /** Records that an existing node may get another kernel; new nodes are in no cluster. */
    private void changes(CallFrame frame, Change change, long kernel, long function) throws RejectedException {
        boolean executable = change == Change.SET_IN_EXECUTABLE;
        int node = executable ? 1 : 0;
        if (change != Change.ADDED) {
            clusters.kernel(frame.argument(node), frame.slot(node), executable, kernel, function);
        }
    }

    private int copy(CallFrame frame, ClientContext context) throws RejectedException {
        nodes.copy(frame.required(structureOf(frame)));
        return call(frame);
    }

    private int memset(CallFrame frame, ClientContext context) throws RejectedException {
        nodes.memset(frame.required(structureOf(frame)));
        return call(frame);
    }

    private int host(CallFrame frame, DriverEntry entry) throws RejectedException {
        int i = structureOf(frame);
        followers(frame, i, CUDA_HOST_NODE_PARAMS.BYTES);
        MemorySegment node = frame.room(CUDA_BATCH_MEM_OP_NODE_PARAMS.BYTES);
        nodes.hostCall(frame, node, frame.data(i).get(WireTypes.U64, CUDA_HOST_NODE_PARAMS.userData));
        frame.slot(i, node.address());
        return driver.call(entry, frame.slots());
    }

    private int operations(CallFrame frame, ClientContext context) throws RejectedException {
        int i = structureOf(frame);
        MemorySegment operations = followers(frame, i, CUDA_BATCH_MEM_OP_NODE_PARAMS.BYTES);
        nodes.operations(frame.data(i), operations);
        return call(frame);
    }

    private int allocation(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        int i = structureOf(frame);
        MemorySegment access = followers(frame, i, CUDA_MEM_ALLOC_NODE_PARAMS.BYTES);
        structures.in(frame.data(i), "CUDA_MEM_ALLOC_NODE_PARAMS");
        nodes.allocation(frame.data(i), access);
        frame.data(i).set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.accessDescs, 0);
        frame.data(i).set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.accessDescCount, 0); // the device reaches all its memory
        return memory.allocation(frame.data(i), memory.maker(frame, DriverEntry.cuGraphAddEmptyNode), frame.slot(1),
                context);
    }

    /** Makes a node that allocates or frees, from {@code CUgraphNodeParams}; the driver gets it as an empty node. */
    private int memoryNode(CallFrame frame, MemorySegment node, int type, ClientContext context)
            throws RejectedException {
        MemorySegment body = frame.room(CUDA_MEM_ALLOC_NODE_PARAMS.BYTES);
        body.copyFrom(node.asSlice(NodeStructures.BODY, CUDA_MEM_ALLOC_NODE_PARAMS.BYTES));
        body.set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.accessDescs, 0);
        body.set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.accessDescCount, 0);
        node.fill((byte) 0);
        node.set(WireTypes.U32, CUgraphNodeParams.type, GraphNodeType.EMPTY);
        GraphMemoryCalls.Maker maker = memory.maker(frame, frame.entry());
        int result = type == GraphNodeType.MEM_ALLOC ? memory.allocation(body, maker, frame.slot(1), context)
                : memory.frees(body.get(WireTypes.U64, CUDA_MEM_FREE_NODE_PARAMS.dptr), maker);
        node.asSlice(NodeStructures.BODY, CUDA_MEM_ALLOC_NODE_PARAMS.BYTES).copyFrom(body);
        return result;
    }

    private int any(CallFrame frame, ClientContext context, Change change) throws RejectedException {
        int i = structureOf(frame);
        MemorySegment followers = followers(frame, i, CUgraphNodeParams.BYTES);
        MemorySegment node = frame.data(i).asSlice(0, CUgraphNodeParams.BYTES);
        int type = node.get(WireTypes.U32, CUgraphNodeParams.type);
        MemorySegment body = node.asSlice(NodeStructures.BODY);
        long kernel = type == GraphNodeType.KERNEL ? NodeStructures.kernelOf(body) : 0;
        nodes.any(frame, node, followers);
        changes(frame, change, kernel, kernel == 0 ? 0 : NodeStructures.kernelOf(body));
        boolean adds = change == Change.ADDED;
        boolean ofMemory = type == GraphNodeType.MEM_ALLOC || type == GraphNodeType.MEM_FREE;
        if (ofMemory && !adds) {
            throw new RejectedException(CudaResult.NOT_SUPPORTED, "a node's memory cannot be changed");
        }
        if (ofMemory) {
            frame.want(0, Long.BYTES);
        }
        long child = type == GraphNodeType.GRAPH ? body.get(WireTypes.U64, CUDA_CHILD_GRAPH_NODE_PARAMS.graph) : 0;
        int result = ofMemory ? memoryNode(frame, node, type, context) : call(frame);
        if (adds && result == CudaResult.SUCCESS && child != 0) {
            memory.partOf(child, frame.slot(1));
        }
        if (adds) {
            answer(frame, node, followers, result == CudaResult.SUCCESS ? type : -1);
        }
        return result;
    }

    /** Fills the part of {@code CUgraphNodeParams} that is returned: an address, bodies' graphs, and no handle or address of the driver's own. */
    private void answer(CallFrame frame, MemorySegment node, MemorySegment followers, int type) {
        long address = node.get(WireTypes.U64, NodeStructures.BODY + CUDA_MEM_ALLOC_NODE_PARAMS.dptr);
        long graphs = node.get(WireTypes.U64, NodeStructures.BODY + CUDA_CONDITIONAL_NODE_PARAMS.phGraph_out);
        int size = node.get(WireTypes.U32, NodeStructures.BODY + CUDA_CONDITIONAL_NODE_PARAMS.size);
        node.fill((byte) 0);
        followers.fill((byte) 0);
        if (type == GraphNodeType.MEM_ALLOC) {
            node.set(WireTypes.U64, NodeStructures.BODY + CUDA_MEM_ALLOC_NODE_PARAMS.dptr, address);
        } else if (type == GraphNodeType.CONDITIONAL && graphs != 0) {
            MemorySegment made = MemorySegment.ofAddress(graphs).reinterpret((long) size * Long.BYTES);
            for (long at = 0; at < made.byteSize(); at += Long.BYTES) {
                followers.set(WireTypes.U64, at, results.translated(HandleKind.GRAPH, made.get(WireTypes.U64, at),
                        frame.argument(1), frame.contextNumber()));
            }
        }
    }

    /** Parameters: condition, graph, context, initial value, flags. */
    private int condition(CallFrame frame, ClientContext context) throws RejectedException {
        graphs.mayHaveCondition();
        frame.want(0, Long.BYTES);
        int result = call(frame);
        if (result == CudaResult.SUCCESS) {
            graphs.condition(frame.argument(1), frame.data(0).get(WireTypes.U64, 0));
        }
        return result;
    }

    /** Parameters: node, attribute, value. */
    private int attribute(CallFrame frame, ClientContext context) throws RejectedException {
        structures.attribute((int) frame.slot(1), frame.required(2));
        if (ClusterNodes.makes(frame.slot(1))) {
            if (!fences.allKnowClusters()) {
                throw ClusterNodes.noClusters(); // the node's kernel is unknown here
            }
            clusters.changes(frame.argument(0), frame.slot(0));
        }
        return call(frame);
    }

    /** Parameters: node, and whose attributes it gets. */
    private int copyAttributes(CallFrame frame, ClientContext context) throws RejectedException {
        clusters.copies(frame.slot(1));
        clusters.changes(frame.argument(0), frame.slot(0));
        return call(frame);
    }
}
