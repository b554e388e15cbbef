package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import io.tessera.executor.stream.ClientStream;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayHandle;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Keeps account of what a client's graphs are in the driver: a copy, a child, an executable graph is as large as what it is made of,
 * so a few calls can ask for any number of nodes. Asked before the driver makes something larger, told after it has. One owner thread.
 */
public final class GraphBook {
    /** Graphs in graphs: drivers walk them recursively. */
    static final int MOST_DEPTH = 32;
    /** What an edge takes, at both of its ends. */
    private static final long EDGE_BYTES = 256;
    private static final int CHILD_GRAPH = 4;

    private final ClientHandles handles;
    private final ClientAccount account;
    private final DriverCalls driver;
    /** What captures have made so far, by the driver's number of the capture; and that number by the stream they began on. */
    private final Map<Long, GraphSize> captures = new HashMap<>();
    private final Map<Long, Long> captureOfOrigin = new HashMap<>();
    /** Conditions of the client's graphs: the driver's own values, because kernels set them. */
    private final Set<Long> conditions = new HashSet<>();
    /** What the call in progress adds. */
    private GraphSize added;

    /** No graphs yet. */
    public GraphBook(ClientHandles handles, DriverCalls driver) {
        this.handles = handles;
        this.account = handles.account();
        this.driver = driver;
    }

    /**
     * Before the driver is called, with the client's own handles.
     *
     * @throws RejectedException with OUT_OF_MEMORY if what the call makes is more than the tenant may have
     */
    void before(CallFrame frame) throws RejectedException {
        added = null;
        String api = frame.plan().api();
        switch (api) {
            case "cuGraphAddChildGraphNode" -> grow(frame.said(1), child(frame, frame.said(4)));
            case "cuGraphAddNode" -> grow(frame.said(1), anyNode(frame));
            case "cuGraphAddDependencies" -> grow(frame.said(0), new GraphSize(0, edges(frame) * EDGE_BYTES, 1));
            case "cuGraphClone" -> require(Countable.GRAPH_NODE, size(HandleKind.GRAPH, frame.said(1)).copy());
            case "cuGraphInstantiate", "cuGraphInstantiateWithFlags", "cuGraphInstantiateWithParams" ->
                    require(Countable.EXECUTABLE_NODE, size(HandleKind.GRAPH, frame.said(1)).copy());
            case "cuGraphExecUpdate" -> require(Countable.EXECUTABLE_NODE, new GraphSize(0, Math.max(0,
                    size(HandleKind.GRAPH, frame.said(1)).bytes - size(HandleKind.GRAPH_EXEC, frame.said(0)).bytes), 1));
            default -> changes(frame, api);
        }
    }

    private void changes(CallFrame frame, String api) throws RejectedException {
        if (api.startsWith("cuGraphAdd") && api.endsWith("Node")) {
            grow(frame.said(1), new GraphSize(1, parameterBytes(frame), 1));
        } else if (api.startsWith("cuGraphExec") && api.endsWith("SetParams")) {
            require(Countable.EXECUTABLE_NODE, new GraphSize(0,
                    size(HandleKind.GRAPH_EXEC, frame.said(0)).growth(frame.said(1), parameterBytes(frame)), 1));
        } else if (api.endsWith("SetParams")) {
            GraphSize node = size(HandleKind.GRAPH_NODE, frame.said(0));
            require(Countable.GRAPH_NODE, new GraphSize(0, Math.max(0, parameterBytes(frame) - node.bytes), 1));
        }
    }

    /** Everything that came in: parameters, what follows them, and dependencies. */
    private long parameterBytes(CallFrame frame) {
        long bytes = frame.plan().api().equals("cuGraphExecChildGraphNodeSetParams") ? size(HandleKind.GRAPH, frame.said(2)).bytes : 0;
        for (int i = 0; i < frame.plan().shapes.length; i++) {
            bytes += CallPlan.elements(frame.plan().shapes[i]) == HandleKind.GRAPH_NODE ? frame.inBytes(i) / Long.BYTES * EDGE_BYTES : frame.inBytes(i);
        }
        return bytes;
    }

    /** Of a call whose second parameter is where edges begin. */
    private static long edges(CallFrame frame) {
        return frame.inBytes(1) / Long.BYTES;
    }

    private GraphSize child(CallFrame frame, long graph) {
        GraphSize of = size(HandleKind.GRAPH, graph);
        return new GraphSize(of.nodes + 1, of.bytes + parameterBytes(frame), of.depth + 1);
    }

    /** Of {@code CUgraphNodeParams}, its last pointer: a child graph, if that is what it is, stands behind the type. */
    private GraphSize anyNode(CallFrame frame) throws RejectedException {
        int i = frame.plan().shapes.length - 1;
        if (frame.inBytes(i) < NodeStructures.ANY_BYTES) {
            throw CallFrame.malformed("a node of " + frame.inBytes(i) + " bytes");
        }
        int type = frame.data(i).get(WireTypes.U32, 0);
        return type == CHILD_GRAPH ? child(frame, frame.data(i).get(WireTypes.U64, NodeStructures.BODY))
                : new GraphSize(1, parameterBytes(frame), type == NodeStructures.CONDITIONAL ? 2 : 1);
    }

    private void grow(long graph, GraphSize by) throws RejectedException {
        int level = 0;
        for (long each = graph; each != HandleTable.NONE; each = owner(each)) {
            level++;
            if (level + by.depth > MOST_DEPTH + 1) {
                throw new RejectedException(CudaResult.OUT_OF_MEMORY, "graphs lie in graphs " + MOST_DEPTH + " deep at most");
            }
        }
        require(Countable.GRAPH_NODE, by);
    }

    private void require(Countable kind, GraphSize size) throws RejectedException {
        refuse(account.refusal(kind, size.nodes, size.bytes));
        added = size;
    }

    private static void refuse(String refusal) throws RejectedException {
        if (refusal != null) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, refusal);
        }
    }

    /** What a handle's object is; nothing for what names nothing, which the driver never sees. */
    private GraphSize size(HandleKind kind, long said) {
        HandleTable table = handles.table(kind);
        if (table.value(said) == HandleTable.NONE) {
            return new GraphSize(0, 0, 1);
        }
        if (table.attachment(said) instanceof GraphSize known) {
            return known;
        }
        GraphSize fresh = new GraphSize(kind == HandleKind.GRAPH_NODE ? 1 : 0, 0, 1);
        table.attach(said, fresh);
        return fresh;
    }

    /** The graph that a graph lies in; NONE: it lies in none. */
    private long owner(long graph) {
        long parent = handles.table(HandleKind.GRAPH).parent(graph);
        return RelayHandle.type(parent) == HandleKind.GRAPH_NODE.number() ? handles.table(HandleKind.GRAPH_NODE).parent(parent) : parent;
    }

    /** After the driver has done it, with the client's handles in the results. */
    void after(CallFrame frame) {
        String api = frame.plan().api();
        switch (api) {
            case "cuGraphClone" -> made(HandleKind.GRAPH, Countable.GRAPH_NODE, frame);
            case "cuGraphInstantiate", "cuGraphInstantiateWithFlags", "cuGraphInstantiateWithParams" ->
                    made(HandleKind.GRAPH_EXEC, Countable.EXECUTABLE_NODE, frame);
            case "cuGraphExecUpdate" -> {
                size(HandleKind.GRAPH_EXEC, frame.said(0)).bytes += added.bytes;
                account.add(Countable.EXECUTABLE_NODE, 0, added.bytes);
            }
            case "cuGraphAddDependencies" -> grown(frame.said(0), added);
            case "cuGraphRemoveDependencies" -> shrunk(frame.said(0), new GraphSize(0, edges(frame) * EDGE_BYTES, 1));
            case "cuGraphChildGraphNodeGetGraph" -> childOf(frame.said(0), frame.data(1) == null ? 0 : frame.data(1).get(WireTypes.U64, 0));
            default -> changed(frame, api);
        }
    }

    private void changed(CallFrame frame, String api) {
        if (added == null) {
            return;
        }
        if (api.startsWith("cuGraphAdd") && api.endsWith("Node")) {
            grown(frame.said(1), added);
            if (frame.data(0) != null) {
                handles.table(HandleKind.GRAPH_NODE).attach(frame.data(0).get(WireTypes.U64, 0), added);
            }
        } else if (api.startsWith("cuGraphExec")) {
            GraphSize exec = size(HandleKind.GRAPH_EXEC, frame.said(0));
            exec.change(frame.said(1), parameterBytes(frame));
            exec.bytes += added.bytes;
            account.add(Countable.EXECUTABLE_NODE, 0, added.bytes);
        } else {
            size(HandleKind.GRAPH_NODE, frame.said(0)).bytes += added.bytes;
            grown(handles.table(HandleKind.GRAPH_NODE).parent(frame.said(0)), new GraphSize(0, added.bytes, 1));
        }
    }

    private void made(HandleKind kind, Countable counted, CallFrame frame) {
        long said = frame.data(0) == null ? HandleTable.NONE : frame.data(0).get(WireTypes.U64, 0);
        if (said != HandleTable.NONE) {
            handles.table(kind).attach(said, added);
        }
        account.add(counted, added.nodes, added.bytes);
    }

    /** A child is as large as its node; of nodes of copies, which nobody has told of, it is at most what the whole graph is. */
    private void childOf(long node, long graph) {
        HandleTable nodes = handles.table(HandleKind.GRAPH_NODE);
        if (graph != HandleTable.NONE && handles.table(HandleKind.GRAPH).attachment(graph) == null) {
            GraphSize whole = nodes.attachment(node) instanceof GraphSize known && known.depth > 1 ? known
                    : size(HandleKind.GRAPH, nodes.parent(node));
            handles.table(HandleKind.GRAPH).attach(graph, new GraphSize(whole.nodes, whole.bytes, Math.max(1, whole.depth - 1)));
        }
    }

    private void grown(long graph, GraphSize by) {
        int depth = by.depth;
        for (long each = graph; each != HandleTable.NONE; each = owner(each)) {
            GraphSize size = size(HandleKind.GRAPH, each);
            size.nodes += by.nodes;
            size.bytes += by.bytes;
            size.depth = Math.max(size.depth, depth);
            depth = size.depth + 1;
        }
        account.add(Countable.GRAPH_NODE, by.nodes, by.bytes);
    }

    /** Nobody gives back more than there is. */
    private void shrunk(long graph, GraphSize by) {
        GraphSize least = by.copy();
        for (long each = graph; each != HandleTable.NONE; each = owner(each)) {
            least.nodes = Math.min(least.nodes, size(HandleKind.GRAPH, each).nodes);
            least.bytes = Math.min(least.bytes, size(HandleKind.GRAPH, each).bytes);
        }
        if (graph == HandleTable.NONE) {
            return;
        }
        for (long each = graph; each != HandleTable.NONE; each = owner(each)) {
            size(HandleKind.GRAPH, each).nodes -= least.nodes;
            size(HandleKind.GRAPH, each).bytes -= least.bytes;
        }
        account.add(Countable.GRAPH_NODE, -least.nodes, -least.bytes);
    }

    /** Something is destroyed, with everything in it. */
    void ending(HandleKind kind, long said) {
        if (handles.table(kind).value(said) == HandleTable.NONE) {
            return;
        }
        GraphSize size = size(kind, said);
        switch (kind) {
            case GRAPH -> {
                if (!handles.table(kind).hasParent(said)) {
                    account.add(Countable.GRAPH_NODE, -size.nodes, -size.bytes);
                }
                size.conditions().forEach(conditions::remove);
                account.add(Countable.CONDITION, -size.conditions().size(), 0);
            }
            case GRAPH_EXEC -> account.add(Countable.EXECUTABLE_NODE, -size.nodes, -size.bytes);
            case GRAPH_NODE -> shrunk(handles.table(kind).parent(said), size);
            default -> {
            }
        }
    }

    /** How many nodes a launch of an executable graph runs. */
    long nodes(long executable) {
        return size(HandleKind.GRAPH_EXEC, executable).nodes;
    }

    /** Whether a condition may be made. */
    void mayHaveCondition() throws RejectedException {
        refuse(account.refusal(Countable.CONDITION));
    }

    /** A condition was made for a graph of the client. */
    void condition(long graph, long value) {
        conditions.add(value);
        size(HandleKind.GRAPH, graph).condition(value);
        account.add(Countable.CONDITION);
    }

    /** Whether a condition is the client's. */
    boolean isCondition(long value) {
        return conditions.contains(value);
    }

    /** A capture has begun on a stream. */
    void captureBegins(ClientStream stream) {
        long id = captureId(stream.value());
        if (id != 0) {
            captureOfOrigin.put(stream.value(), id);
            captures.put(id, new GraphSize(0, 0, 1));
        }
    }

    private long captureId(long stream) {
        int result = driver.call(DriverEntry.cuStreamGetCaptureInfo_v2, stream, driver.out(0), driver.out(1), driver.out(2),
                driver.out(3), driver.out(4));
        return result == CudaResult.SUCCESS && driver.outInt(0) == 1 ? driver.outLong(1) : 0;
    }

    /**
     * Something is submitted to a stream that takes part in a capture: a node, which a graph will have.
     *
     * @param parameterBytes of the node, beside what each takes
     * @throws RejectedException with OUT_OF_MEMORY if it is more than the tenant may have
     */
    public void captured(ClientStream stream, long nodes, long parameterBytes) throws RejectedException {
        long id = captures.size() == 1 ? captures.keySet().iterator().next() : captureId(stream.value());
        GraphSize size = captures.get(id);
        if (size == null) {
            return; // spoilt: nothing is added to it any more
        }
        refuse(account.take(Countable.GRAPH_NODE, nodes, parameterBytes + nodes * EDGE_BYTES));
        size.nodes += nodes;
        size.bytes += parameterBytes + nodes * EDGE_BYTES;
    }

    /**
     * A capture is over.
     *
     * @param graph the graph that has what was captured; NONE: it is gone
     */
    void captureEnds(ClientStream stream, long graph) {
        Long id = captureOfOrigin.remove(stream.value());
        GraphSize size = id == null ? null : captures.remove(id);
        if (size == null) {
            return;
        }
        account.add(Countable.GRAPH_NODE, -size.nodes, -size.bytes);
        if (graph != HandleTable.NONE) {
            grown(graph, size);
        }
    }
}
