package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** Entries that make and change nodes of graphs. One owner thread. */
final class NodeCalls {
    private static final int HOST_NODE_BYTES = 16;

    private final ClientState client;
    private final DriverCalls driver;
    private final StructureTranslation structures;
    private final NodeStructures nodes;
    private final GraphMemoryCalls memory;
    private final HandleResults results;
    private final ClusterNodes clusters;

    NodeCalls(ClientState client, StructureTranslation structures, NodeStructures nodes, GraphMemoryCalls memory,
            HandleResults results, ClusterNodes clusters) {
        this.client = client;
        this.driver = client.driver();
        this.structures = structures;
        this.nodes = nodes;
        this.memory = memory;
        this.results = results;
        this.clusters = clusters;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuGraphAddKernelNode", this::kernel);
        calls.put("cuGraphKernelNodeSetParams", this::kernel);
        calls.put("cuGraphExecKernelNodeSetParams", this::kernel);
        calls.put("cuGraphAddMemcpyNode", this::copy);
        calls.put("cuGraphMemcpyNodeSetParams", this::copy);
        calls.put("cuGraphExecMemcpyNodeSetParams", this::copy);
        calls.put("cuGraphAddMemsetNode", this::memset);
        calls.put("cuGraphMemsetNodeSetParams", this::memset);
        calls.put("cuGraphExecMemsetNodeSetParams", this::memset);
        calls.put("cuGraphAddHostNode", (frame, _) -> host(frame, DriverEntry.cuGraphAddBatchMemOpNode));
        calls.put("cuGraphHostNodeSetParams", (frame, _) -> host(frame, DriverEntry.cuGraphBatchMemOpNodeSetParams));
        calls.put("cuGraphExecHostNodeSetParams",
                (frame, _) -> host(frame, DriverEntry.cuGraphExecBatchMemOpNodeSetParams));
        calls.put("cuGraphAddBatchMemOpNode", this::operations);
        calls.put("cuGraphBatchMemOpNodeSetParams", this::operations);
        calls.put("cuGraphExecBatchMemOpNodeSetParams", this::operations);
        calls.put("cuGraphAddMemAllocNode", this::allocation);
        calls.put("cuGraphAddNode", this::any);
        calls.put("cuGraphNodeSetParams", this::any);
        calls.put("cuGraphExecNodeSetParams", this::any);
        calls.put("cuGraphKernelNodeSetAttribute", this::attribute);
        calls.put("cuGraphKernelNodeCopyAttributes", this::copyAttributes);
        calls.put("cuGraphConditionalHandleCreate", this::condition);
    }

    /** The parameter that is a node's structure: the last pointer. */
    private static int structureOf(CallFrame frame) {
        for (int i = frame.plan().shapes.length - 1; i > 0; i--) {
            if (frame.plan().shapes[i] instanceof ParameterDescription.Pointer) {
                return i;
            }
        }
        throw new IllegalStateException(frame.plan().api() + " has no structure");
    }

    private static MemorySegment followers(CallFrame frame, int i, long bytes) throws RejectedException {
        MemorySegment data = frame.required(i);
        if (frame.inBytes(i) < bytes) {
            throw CallFrame.malformed("a node of " + frame.inBytes(i) + " bytes");
        }
        return data.asSlice(bytes, frame.inBytes(i) - bytes);
    }

    private int call(CallFrame frame) {
        return driver.call(frame.plan().entry(), frame.slots());
    }

    private int kernel(CallFrame frame, ClientContext context) throws RejectedException {
        int i = structureOf(frame);
        int bytes = ((ParameterDescription.Pointer) frame.plan().shapes[i]).elementBytes();
        MemorySegment parameters = followers(frame, i, bytes);
        long said = NodeStructures.kernelOf(frame.data(i).asSlice(0, bytes));
        structures.in(frame.data(i), frame.plan().description.parameters().get(i).type());
        nodes.kernel(frame, frame.data(i), parameters);
        nodes.mayRun(said, frame.data(i).asSlice(0, bytes), parameters);
        changes(frame, said, NodeStructures.kernelOf(frame.data(i).asSlice(0, bytes)));
        return call(frame);
    }

    /** A node that there is may get another kernel; nodes that are added are in no cluster. */
    private void changes(CallFrame frame, long kernel, long function) throws RejectedException {
        String api = frame.plan().api();
        boolean executable = api.startsWith("cuGraphExec");
        int node = executable ? 1 : 0;
        if (!api.startsWith("cuGraphAdd")) {
            clusters.kernel(frame.said(node), frame.slot(node), executable, kernel, function);
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
        followers(frame, i, HOST_NODE_BYTES);
        MemorySegment node = frame.room(NodeStructures.OPERATIONS_BYTES);
        nodes.hostCall(frame, node, frame.data(i).get(WireTypes.U64, 8));
        frame.slot(i, node.address());
        return driver.call(entry, frame.slots());
    }

    private int operations(CallFrame frame, ClientContext context) throws RejectedException {
        int i = structureOf(frame);
        MemorySegment operations = followers(frame, i, NodeStructures.OPERATIONS_BYTES);
        nodes.operations(frame.data(i), operations);
        return call(frame);
    }

    private int allocation(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        int i = structureOf(frame);
        MemorySegment access = followers(frame, i, NodeStructures.ALLOCATION_BYTES);
        structures.in(frame.data(i), "CUDA_MEM_ALLOC_NODE_PARAMS");
        nodes.allocation(frame.data(i), access);
        frame.data(i).set(WireTypes.U64, NodeStructures.ALLOCATION_ACCESS, 0);
        frame.data(i).set(WireTypes.U64, NodeStructures.ALLOCATION_ACCESS_COUNT, 0); // the device reaches all its memory
        return memory.allocation(frame.data(i), memory.maker(frame, DriverEntry.cuGraphAddEmptyNode), frame.slot(1),
                context);
    }

    /** Makes a node of memory by {@code CUgraphNodeParams}, which the driver gets as an empty one's. */
    private int memoryNode(CallFrame frame, MemorySegment node, int type, ClientContext context)
            throws RejectedException {
        MemorySegment body = frame.room(NodeStructures.ALLOCATION_BYTES);
        body.copyFrom(node.asSlice(NodeStructures.BODY, NodeStructures.ALLOCATION_BYTES));
        body.set(WireTypes.U64, NodeStructures.ALLOCATION_ACCESS, 0);
        body.set(WireTypes.U64, NodeStructures.ALLOCATION_ACCESS_COUNT, 0);
        node.fill((byte) 0);
        node.set(WireTypes.U32, 0, NodeStructures.EMPTY);
        GraphMemoryCalls.Maker maker = memory.maker(frame, frame.plan().entry());
        int result = type == NodeStructures.ALLOCATION ? memory.allocation(body, maker, frame.slot(1), context)
                : memory.frees(body.get(WireTypes.U64, 0), maker);
        node.asSlice(NodeStructures.BODY, NodeStructures.ALLOCATION_BYTES).copyFrom(body);
        return result;
    }

    private int any(CallFrame frame, ClientContext context) throws RejectedException {
        int i = structureOf(frame);
        MemorySegment followers = followers(frame, i, NodeStructures.ANY_BYTES);
        MemorySegment node = frame.data(i).asSlice(0, NodeStructures.ANY_BYTES);
        int type = node.get(WireTypes.U32, 0);
        MemorySegment body = node.asSlice(NodeStructures.BODY);
        long kernel = type == NodeStructures.KERNEL ? NodeStructures.kernelOf(body) : 0;
        nodes.any(frame, node, followers);
        changes(frame, kernel, kernel == 0 ? 0 : NodeStructures.kernelOf(body));
        boolean adds = frame.plan().api().equals("cuGraphAddNode");
        boolean ofMemory = type == NodeStructures.ALLOCATION || type == NodeStructures.FREE;
        if (ofMemory && !adds) {
            throw new RejectedException(CudaResult.NOT_SUPPORTED, "a node's memory cannot be changed");
        }
        if (ofMemory) {
            frame.want(0, Long.BYTES);
        }
        int result = ofMemory ? memoryNode(frame, node, type, context) : call(frame);
        if (adds) {
            answer(frame, node, followers, result == CudaResult.SUCCESS ? type : -1, context);
        }
        return result;
    }

    /** What goes back of {@code CUgraphNodeParams}: an address, bodies' graphs, and nothing of the driver's own. */
    private void answer(CallFrame frame, MemorySegment node, MemorySegment followers, int type,
            ClientContext context) {
        long address = node.get(WireTypes.U64, NodeStructures.BODY + 112L);
        long graphs = node.get(WireTypes.U64, NodeStructures.CONDITIONAL_GRAPHS);
        int size = node.get(WireTypes.U32, NodeStructures.CONDITIONAL_SIZE);
        node.fill((byte) 0);
        followers.fill((byte) 0);
        if (type == NodeStructures.ALLOCATION) {
            node.set(WireTypes.U64, NodeStructures.BODY + 112L, address);
        } else if (type == NodeStructures.CONDITIONAL && graphs != 0) {
            MemorySegment made = MemorySegment.ofAddress(graphs).reinterpret((long) size * Long.BYTES);
            for (long at = 0; at < made.byteSize(); at += Long.BYTES) {
                followers.set(WireTypes.U64, at, results.translated(HandleKind.GRAPH, made.get(WireTypes.U64, at),
                        frame.said(1), context == null ? 0 : context.number()));
            }
        }
    }

    /** Parameters: condition, graph, context, initial value, flags. */
    private int condition(CallFrame frame, ClientContext context) throws RejectedException {
        client.graphs().mayHaveCondition();
        frame.want(0, Long.BYTES);
        int result = call(frame);
        if (result == CudaResult.SUCCESS) {
            client.graphs().condition(frame.said(1), frame.data(0).get(WireTypes.U64, 0));
        }
        return result;
    }

    /** Parameters: node, attribute, value. */
    private int attribute(CallFrame frame, ClientContext context) throws RejectedException {
        structures.attribute((int) frame.slot(1), frame.required(2));
        if (ClusterNodes.makes(frame.slot(1))) {
            if (!client.fences().allKnowClusters()) {
                throw ClusterNodes.noClusters(); // nobody tells the node's kernel from here
            }
            clusters.changes(frame.said(0), frame.slot(0));
        }
        return call(frame);
    }

    /** Parameters: node, and whose attributes it gets. */
    private int copyAttributes(CallFrame frame, ClientContext context) throws RejectedException {
        clusters.copies(frame.slot(1));
        clusters.changes(frame.said(0), frame.slot(0));
        return call(frame);
    }
}
