package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaLayouts.CUgraphNodeParams;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.graph.NodeMoves.Content;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import io.tessera.executor.stream.ClientStream;
import io.tessera.protocol.WireTypes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Keeps account of the sizes of a client's graphs in the driver. A copy, a child and an executable graph are as large as their originals, so a few calls could
 * otherwise create any number of nodes. The bounds are checked before the driver makes something larger; the account is updated afterwards. One owner thread.
 */
public final class GraphBook {
    /** Maximum depth of graphs in graphs, which drivers walk recursively. */
    static final int MOST_DEPTH = 32;

    private final ClientHandles handles;
    private final ClientAccount account;
    private final DriverCalls driver;
    private final NodeMoves moves;
    /** The captures in progress, by the driver's number; and that number by the stream that they began on. */
    private final Map<Long, Capture> captures = new HashMap<>();
    private final Map<Long, Long> captureOfOrigin = new HashMap<>();
    /** Conditions of the client's graphs: the driver's own values, because kernels set them. */
    private final Set<Long> conditions = new HashSet<>();
    /** What the call in progress adds. */
    private GraphSize added;
    private final GraphNesting nesting;

    /** Creates a book without graphs. */
    GraphBook(ClientHandles handles, DriverCalls driver, MovedBytes moved) {
        this.moves = new NodeMoves(moved);
        this.handles = handles;
        this.nesting = new GraphNesting(handles);
        this.account = handles.account();
        this.driver = driver;
    }

    /** Computes the size that a call adds, from the client's own handles. */
    @FunctionalInterface
    private interface Addition {
        GraphSize size(CallFrame frame) throws RejectedException;
    }

    /** Declares that the call adds a node to a graph. Parameters: node, graph. */
    CallRow addsNode(CallRow row, Content content) {
        return adds(row, frame -> node(frame, content));
    }

    /** As above, for a node that is a graph. Parameters: node, graph, dependencies, count, child. */
    CallRow addsChild(CallRow row) {
        return adds(row, frame -> child(frame, frame.argument(4), Content.NOTHING))
                .checks(frame -> nesting.requireOutside(frame.argument(4), frame.argument(1)));
    }

    /** As above, for a node whose structure contains its type. */
    CallRow addsAnyNode(CallRow row) {
        return adds(row, this::anyNode).records(this::moveChild);
    }

    private CallRow adds(CallRow row, Addition addition) {
        return row.admits(frame -> grow(frame.argument(1), addition.size(frame))).records(this::nodeAdded);
    }

    /** Declares that the call changes a node of a graph. Parameter: node. */
    CallRow changesNode(CallRow row, Content content) {
        return row.admits(frame -> grow(handles.table(HandleKind.GRAPH_NODE).parent(frame.argument(0)),
                node(frame, content).beyond(size(HandleKind.GRAPH_NODE, frame.argument(0))))).records(this::nodeChanged);
    }

    /** Declares that the call changes a node of an executable graph. Parameters: executable graph, node. */
    CallRow changesExecutable(CallRow row, Content content) {
        return changesExecutable(row, frame -> node(frame, content));
    }

    /** As above, for a node that is a graph. Parameters: executable graph, node, child. */
    CallRow changesChildOfExecutable(CallRow row) {
        return changesExecutable(row, frame -> node(frame, Content.NOTHING).plus(size(HandleKind.GRAPH, frame.argument(2))));
    }

    private CallRow changesExecutable(CallRow row, Function<CallFrame, GraphSize> node) {
        return row.admits(frame -> {
            GraphSize exec = size(HandleKind.GRAPH_EXEC, frame.argument(0));
            GraphSize growth = exec.growth(frame.argument(1), node.apply(frame));
            refuse(exec.refusal(growth));
            require(Countable.EXECUTABLE_NODE, growth);
        }).records(frame -> {
            GraphSize exec = size(HandleKind.GRAPH_EXEC, frame.argument(0));
            exec.change(frame.argument(1), node.apply(frame));
            exec.plus(added);
            account.add(Countable.EXECUTABLE_NODE, 0, added.hostBytes());
        });
    }

    /** Declares that the call adds edges. Parameters: graph, from. */
    CallRow addsEdges(CallRow row) {
        return row.admits(frame -> grow(frame.argument(0), GraphSize.of(0, 0, edges(frame)))).records(frame -> grown(frame.argument(0), added));
    }

    /** Declares that the call removes edges. Parameters: graph, from. */
    CallRow removesEdges(CallRow row) {
        return row.records(frame -> shrunk(frame.argument(0), GraphSize.of(0, 0, edges(frame))));
    }

    /** Declares that the call copies a graph. Parameters: copy, graph. */
    CallRow copies(CallRow row) {
        return row.admits(frame -> require(Countable.GRAPH_NODE, size(HandleKind.GRAPH, frame.argument(1)).copy()))
                .records(frame -> made(HandleKind.GRAPH, Countable.GRAPH_NODE, frame));
    }

    /** Declares that the call makes a graph executable. Parameters: executable graph, graph. */
    CallRow instantiates(CallRow row) {
        return row.admits(frame -> instantiates(frame.argument(1))).records(frame -> made(HandleKind.GRAPH_EXEC, Countable.EXECUTABLE_NODE, frame));
    }

    /** Declares that the call updates an executable graph from a graph. Parameters: executable graph, graph. */
    CallRow updates(CallRow row) {
        return row.admits(frame -> require(Countable.EXECUTABLE_NODE,
                size(HandleKind.GRAPH, frame.argument(1)).beyond(size(HandleKind.GRAPH_EXEC, frame.argument(0))))).records(frame -> {
                    size(HandleKind.GRAPH_EXEC, frame.argument(0)).plus(added);
                    account.add(Countable.EXECUTABLE_NODE, 0, added.hostBytes());
                });
    }

    /** Declares that the call destroys a graph or a node. Parameter: graph or node. */
    CallRow ends(CallRow row) {
        return row.admits(frame -> {
            for (Capture capture : captures.values()) {
                if (nesting.isIn(capture.graph, frame.argument(0))) {
                    throw new RejectedException(CudaResult.ILLEGAL_STATE, "a stream is captured into this graph, or into a part of it");
                }
            }
        });
    }

    /** Declares that the call names the graph of a graph node. Parameters: node, child. */
    CallRow namesChild(CallRow row) {
        return row.records(frame -> childOf(frame.argument(0), frame.data(1) == null ? 0 : frame.data(1).get(WireTypes.U64, 0)));
    }

    private void instantiates(long graph) throws RejectedException {
        GraphSize size = size(HandleKind.GRAPH, graph).copy();
        long value = handles.value(HandleKind.GRAPH, graph);
        if (value != HandleTable.NONE) {
            size.branches = Math.max(1, size.nodes - size.continued - GraphBranches.continued(driver, value));
            refuse(size.branches <= GraphBranches.MOST ? null : "a graph that is made executable may have " + GraphBranches.MOST
                    + " branches beside each other, and this one has " + size.branches + ": everybody waits while a driver makes them"
                    + GraphSize.REMEDY);
            refuse(account.refusal(Countable.EXECUTABLE_BRANCH, size.branches - 1, 0));
        }
        require(Countable.EXECUTABLE_NODE, size);
    }

    /** Returns the size of one node, from all of its input: parameters, the data of pointers, dependencies, and a child. */
    private GraphSize node(CallFrame frame, Content content) {
        long bytes = 0;
        long edges = 0;
        for (int i = 0; i < frame.parameters(); i++) {
            boolean nodes = frame.elements(i) == HandleKind.GRAPH_NODE;
            edges += nodes ? frame.inBytes(i) / Long.BYTES : 0;
            bytes += nodes ? 0 : frame.inBytes(i);
        }
        GraphSize node = GraphSize.of(1, bytes, edges);
        node.movesNs = moves.ns(frame, content);
        return node;
    }

    /** Returns the number of edges of a call whose second parameter is the array of their origins. */
    private static long edges(CallFrame frame) {
        return frame.inBytes(1) / Long.BYTES;
    }

    private GraphSize child(CallFrame frame, long graph, Content content) {
        GraphSize child = size(HandleKind.GRAPH, graph).copy().plus(node(frame, content));
        long value = handles.value(HandleKind.GRAPH, graph);
        child.continued += value == HandleTable.NONE ? 0 : GraphBranches.continued(driver, value);
        child.depth++;
        return child;
    }

    /** Counts a graph that the call has moved into another one as part of that one alone. Parameter: node. */
    private void moveChild(CallFrame frame) {
        long moved = nesting.adopted(frame.data(0) == null ? HandleTable.NONE : frame.data(0).get(WireTypes.U64, 0));
        if (moved != HandleTable.NONE) {
            GraphSize size = size(HandleKind.GRAPH, moved);
            account.add(Countable.GRAPH_NODE, -size.nodes, -size.hostBytes());
        }
    }

    /** Returns the size for {@code CUgraphNodeParams}, the call's last pointer; a child graph, if the node is one, follows the type. */
    private GraphSize anyNode(CallFrame frame) throws RejectedException {
        int i = frame.parameters() - 1;
        if (frame.inBytes(i) < CUgraphNodeParams.BYTES) {
            throw CallFrame.malformed("a node of " + frame.inBytes(i) + " bytes");
        }
        int type = frame.data(i).get(WireTypes.U32, CUgraphNodeParams.type);
        nesting.begins(type, frame.data(i).asSlice(NodeStructures.BODY));
        if (type == GraphNodeType.GRAPH) {
            long child = frame.data(i).get(WireTypes.U64, NodeStructures.BODY);
            nesting.requireOutside(child, frame.argument(1));
            return child(frame, child, Content.ANY);
        }
        GraphSize node = node(frame, Content.ANY);
        node.depth = type == GraphNodeType.CONDITIONAL ? 2 : 1;
        return node;
    }

    private void grow(long graph, GraphSize by) throws RejectedException {
        int level = 0;
        for (long each = graph; each != HandleTable.NONE; each = nesting.owner(each)) {
            level++;
            if (level + by.depth > MOST_DEPTH + 1) {
                throw RejectedException
                        .bound("graphs lie in graphs " + MOST_DEPTH + " deep at most; add the nodes of the innermost ones to the graphs around them");
            }
        }
        fits(graph, by);
        require(Countable.GRAPH_NODE, by);
    }

    /** Checks that a graph, and every graph that contains it, may grow by this much. */
    private void fits(long graph, GraphSize by) throws RejectedException {
        for (long each = graph; each != HandleTable.NONE; each = nesting.owner(each)) {
            refuse(size(HandleKind.GRAPH, each).refusal(by));
        }
    }

    private void require(Countable kind, GraphSize size) throws RejectedException {
        refuse(account.refusal(kind, size.nodes, size.hostBytes()));
        added = size;
    }

    private static void refuse(String refusal) throws RejectedException {
        if (refusal != null) {
            throw RejectedException.bound(refusal);
        }
    }

    /** Returns the object of a handle; nothing for a handle that names nothing, which the driver never sees. */
    private GraphSize size(HandleKind kind, long clientHandle) {
        HandleTable table = handles.table(kind);
        if (table.value(clientHandle) == HandleTable.NONE) {
            return new GraphSize();
        }
        if (table.attachment(clientHandle) instanceof GraphSize known) {
            return known;
        }
        GraphSize fresh = GraphSize.of(kind == HandleKind.GRAPH_NODE ? 1 : 0, 0, 0);
        table.attach(clientHandle, fresh);
        return fresh;
    }

    private void nodeAdded(CallFrame frame) {
        grown(frame.argument(1), added);
        if (frame.data(0) != null) {
            handles.table(HandleKind.GRAPH_NODE).attach(frame.data(0).get(WireTypes.U64, 0), added);
        }
    }

    private void nodeChanged(CallFrame frame) {
        size(HandleKind.GRAPH_NODE, frame.argument(0)).plus(added);
        grown(handles.table(HandleKind.GRAPH_NODE).parent(frame.argument(0)), added);
    }

    private void made(HandleKind kind, Countable counted, CallFrame frame) {
        long clientHandle = frame.data(0) == null ? HandleTable.NONE : frame.data(0).get(WireTypes.U64, 0);
        if (clientHandle != HandleTable.NONE) {
            handles.table(kind).attach(clientHandle, added);
        }
        account.add(counted, added.nodes, added.hostBytes());
        account.add(Countable.EXECUTABLE_BRANCH, added.branches - 1, 0);
    }

    /**
     * Attaches the size to a child graph: that of its node. For nodes of copies no size was recorded; the child is then at most as large as the whole graph.
     */
    private void childOf(long node, long graph) {
        HandleTable nodes = handles.table(HandleKind.GRAPH_NODE);
        if (graph != HandleTable.NONE && handles.table(HandleKind.GRAPH).attachment(graph) == null) {
            GraphSize whole = nodes.attachment(node) instanceof GraphSize known && known.depth > 1 ? known
                    : size(HandleKind.GRAPH, nodes.parent(node));
            GraphSize child = whole.copy();
            child.depth = Math.max(1, whole.depth - 1);
            child.continued = 0;
            handles.table(HandleKind.GRAPH).attach(graph, child);
        }
    }

    private void grown(long graph, GraphSize by) {
        int depth = by.depth;
        for (long each = graph; each != HandleTable.NONE; each = nesting.owner(each)) {
            GraphSize size = size(HandleKind.GRAPH, each);
            size.plus(by);
            size.depth = Math.max(size.depth, depth);
            depth = size.depth + 1;
        }
        account.add(Countable.GRAPH_NODE, by.nodes, by.hostBytes());
    }

    /** Reduces a graph's size, at most to nothing. */
    private void shrunk(long graph, GraphSize by) {
        GraphSize least = by.copy();
        for (long each = graph; each != HandleTable.NONE; each = nesting.owner(each)) {
            least.atMost(size(HandleKind.GRAPH, each));
        }
        if (graph == HandleTable.NONE) {
            return;
        }
        for (long each = graph; each != HandleTable.NONE; each = nesting.owner(each)) {
            GraphSize size = size(HandleKind.GRAPH, each);
            size.minus(least);
            size.continued = each == graph ? size.continued : 0; // a removed node may have been between two others
        }
        account.add(Countable.GRAPH_NODE, -least.nodes, -least.hostBytes());
    }

    /** Removes an object that is destroyed, with all its contents. */
    void ending(HandleKind kind, long clientHandle) {
        if (handles.table(kind).value(clientHandle) == HandleTable.NONE) {
            return;
        }
        GraphSize size = size(kind, clientHandle);
        switch (kind) {
            case GRAPH -> {
                if (!handles.table(kind).hasParent(clientHandle)) {
                    account.add(Countable.GRAPH_NODE, -size.nodes, -size.hostBytes());
                }
                size.conditions().forEach(conditions::remove);
                account.add(Countable.CONDITION, -size.conditions().size(), 0);
            }
            case GRAPH_EXEC -> {
                account.add(Countable.EXECUTABLE_NODE, -size.nodes, -size.hostBytes());
                account.add(Countable.EXECUTABLE_BRANCH, 1 - size.branches, 0);
            }
            case GRAPH_NODE -> shrunk(handles.table(kind).parent(clientHandle), size);
            default -> {}
        }
    }

    /** Returns how many nodes a launch of an executable graph runs. */
    long nodes(long executable) {
        return size(HandleKind.GRAPH_EXEC, executable).nodes;
    }

    /** Returns the time that copies and memsets of a launch of an executable graph take. */
    long movesNs(long executable) {
        return size(HandleKind.GRAPH_EXEC, executable).movesNs;
    }

    /** Checks that a condition may be made. */
    void mayHaveCondition() throws RejectedException {
        refuse(account.refusal(Countable.CONDITION));
    }

    /** Records a condition that was made for a graph of the client. */
    void condition(long graph, long value) {
        conditions.add(value);
        size(HandleKind.GRAPH, graph).condition(value);
        account.add(Countable.CONDITION);
    }

    /** Returns whether a condition is the client's. */
    boolean isCondition(long value) {
        return conditions.contains(value);
    }

    /**
     * Result of a capture.
     *
     * @param size  size of the captured work; of the whole graph, if that is known
     * @param graph the client's handle of the graph that gets it; NONE: there is none yet
     * @param into  whether the graph existed before
     */
    private record Capture(GraphSize size, long graph, boolean into) {
    }

    /**
     * Records the start of a capture on a stream.
     *
     * @param into the graph that gets the captured work; NONE: a new one
     */
    void captureBegins(ClientStream stream, long into) {
        long id = captureId(stream.value());
        if (id != 0) {
            captureOfOrigin.put(stream.value(), id);
            boolean known = into != HandleTable.NONE;
            captures.put(id, new Capture(known ? size(HandleKind.GRAPH, into) : new GraphSize(), into, known));
        }
    }

    /** Records that the client has got a handle of the captured graph: nodes that are added by name count with the captured work. */
    void captureIs(long stream, long graph) {
        long id = captureId(stream);
        Capture capture = captures.get(id);
        if (capture != null && capture.graph == HandleTable.NONE && graph != HandleTable.NONE) {
            captures.put(id, new Capture(size(HandleKind.GRAPH, graph).plus(capture.size), graph, false));
        }
    }

    private long captureId(long stream) {
        int result = driver.call(DriverEntry.cuStreamGetCaptureInfo_v2, stream, driver.out(0), driver.out(1), driver.out(2),
                driver.out(3), driver.out(4));
        return result == CudaResult.SUCCESS && driver.outInt(0) == 1 ? driver.outLong(1) : 0;
    }

    /**
     * Counts work that is submitted to a captured stream: a node that a graph will have.
     *
     * @param parameterBytes of the node, beside the fixed cost of each
     * @param movesNs        device time if it copies or sets memory
     * @throws RejectedException with OUT_OF_MEMORY if it exceeds the tenant's bound
     */
    public void captured(ClientStream stream, long nodes, long parameterBytes, long movesNs) throws RejectedException {
        GraphSize by = GraphSize.of(nodes, parameterBytes, nodes);
        by.movesNs = movesNs;
        captured(stream, by);
    }

    /** As above, for an executable graph, which becomes a child. */
    void capturedGraph(ClientStream stream, long executable) throws RejectedException {
        GraphSize child = size(HandleKind.GRAPH_EXEC, executable);
        GraphSize by = child.copy().plus(GraphSize.of(1, 0, 1));
        by.continued = Math.max(0, child.nodes - child.branches);
        captured(stream, by);
    }

    private void captured(ClientStream stream, GraphSize by) throws RejectedException {
        long id = captures.size() == 1 ? captures.keySet().iterator().next() : captureId(stream.value());
        Capture capture = captures.get(id);
        if (capture == null) {
            return; // invalidated: nothing is added to it any more
        }
        if (capture.graph != HandleTable.NONE && handles.value(HandleKind.GRAPH, capture.graph) == HandleTable.NONE) {
            return; // its graph has ended
        }
        if (capture.graph != HandleTable.NONE) {
            fits(capture.graph, by);
            refuse(account.refusal(Countable.GRAPH_NODE, by.nodes, by.hostBytes()));
            grown(capture.graph, by);
        } else {
            refuse(capture.size.refusal(by));
            refuse(account.take(Countable.GRAPH_NODE, by.nodes, by.hostBytes()));
            capture.size.plus(by);
        }
    }

    /**
     * Records the end of a capture.
     *
     * @param graph the graph that has the captured work; NONE: it was lost
     * @return the client's handle of a graph that the driver has thrown away with it; NONE: there is none
     */
    long captureEnds(ClientStream stream, long graph) {
        Long id = captureOfOrigin.remove(stream.value());
        Capture capture = id == null ? null : captures.remove(id);
        if (capture == null) {
            return HandleTable.NONE;
        }
        GraphSize size = capture.size.copy();
        if (capture.graph == HandleTable.NONE) {
            account.add(Countable.GRAPH_NODE, -size.nodes, -size.hostBytes());
            if (graph != HandleTable.NONE) {
                grown(graph, size);
            }
        } else if (graph == HandleTable.NONE && !capture.into) {
            shrunk(capture.graph, size);
            return capture.graph;
        }
        return HandleTable.NONE;
    }
}
