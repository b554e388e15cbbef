package io.tessera.testing.driver;

import io.tessera.device.CudaEnums.ChildGraphOwnership;
import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaEnums.StreamCaptureStatus;
import io.tessera.device.CudaLayouts.CUDA_CHILD_GRAPH_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUgraphNodeParams;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * Graphs of which only the size is kept. Records the maximum number of nodes in one call, since a driver needs time for each node.
 * Thread-safe.
 */
public final class FakeGraphs {
    /** The entries that it answers. */
    static final Set<DriverEntry> ENTRIES = EnumSet.of(DriverEntry.cuGraphCreate, DriverEntry.cuGraphAddEmptyNode,
            DriverEntry.cuGraphAddBatchMemOpNode,
            DriverEntry.cuGraphAddChildGraphNode, DriverEntry.cuGraphAddNode_v2, DriverEntry.cuGraphClone, DriverEntry.cuGraphInstantiateWithFlags,
            DriverEntry.cuGraphDestroy, DriverEntry.cuGraphExecDestroy, DriverEntry.cuGraphDestroyNode, DriverEntry.cuGraphGetNodes,
            DriverEntry.cuGraphGetEdges_v2, DriverEntry.cuStreamGetCaptureInfo_v2, DriverEntry.cuStreamEndCapture);
    /** The graph of every capture. */
    private static final long CAPTURED = 0xca90;

    /** By graph: its nodes, and how many nodes each represents. */
    private final Map<Long, Map<Long, Long>> graphs = new LinkedHashMap<>();
    private final Map<Long, Long> graphOfNode = new LinkedHashMap<>();
    /** By graph: pairs of nodes. */
    private final Map<Long, List<long[]>> edges = new LinkedHashMap<>();
    /** By graph: those that were moved to it. */
    private final Map<Long, List<Long>> movedTo = new LinkedHashMap<>();
    private final LongSupplier handles;
    private int endedTwice;
    private long newest;
    private long most;
    private String longest = "no call";
    /** The number of the capture of every stream; 0: none is captured. */
    public volatile long captureId;
    /** Whether the ends of captures fail, with which drivers throw the captured graph away. */
    public volatile boolean captureFails;
    /** Time that a call needs for one node, in ns. */
    public volatile long nodeNs;

    FakeGraphs(LongSupplier handles) {
        this.handles = handles;
    }

    /** Returns the maximum number of nodes in one call. */
    public synchronized long mostNodes() {
        return most;
    }

    /** Returns the name of that call. */
    public synchronized String longestCall() {
        return longest;
    }

    /** Returns how many graphs were to be destroyed that were not there. */
    public synchronized int endedTwice() {
        return endedTwice;
    }

    /** Adds this many nodes in sequence to the latest graph, as a capture would. */
    public synchronized void capture(int nodes) {
        long before = 0;
        for (int i = 0; i < nodes; i++) {
            long node = handles.getAsLong();
            connect(newest, before, node);
            before = node;
            graphs.get(newest).put(node, 1L);
            graphOfNode.put(node, newest);
        }
    }

    /** Returns the number of live graphs and executable graphs. */
    public synchronized int alive() {
        return graphs.size();
    }

    private static long slot(MemorySegment slots, int i) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, i);
    }

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    private void worked(DriverEntry entry, long nodes) {
        if (nodes > most) {
            most = nodes;
            longest = entry + " of " + nodes + " nodes";
        }
        for (long untilNs = System.nanoTime() + nodes * nodeNs; System.nanoTime() < untilNs;) {
            Thread.onSpinWait();
        }
    }

    private long size(long graph) {
        return graphs.getOrDefault(graph, Map.of()).values().stream().mapToLong(Long::longValue).sum();
    }

    private int make(long place, long handle) {
        at(place, Long.BYTES).set(ValueLayout.JAVA_LONG, 0, handle);
        return 0;
    }

    private int add(long place, long graph, long dependencies, long count, long weight) {
        Map<Long, Long> nodes = graphs.get(graph);
        if (nodes == null) {
            return CudaResult.INVALID_VALUE;
        }
        long node = handles.getAsLong();
        nodes.put(node, weight);
        graphOfNode.put(node, graph);
        for (int i = 0; i < count; i++) {
            connect(graph, at(dependencies, 8L * count).getAtIndex(ValueLayout.JAVA_LONG, i), node);
        }
        return make(place, node);
    }

    /** A node by CUgraphNodeParams. A graph that is moved ends with the one that it is moved to. */
    private int addAny(MemorySegment s) {
        MemorySegment node = at(slot(s, 5), CUgraphNodeParams.BYTES);
        if (node.get(ValueLayout.JAVA_INT, CUgraphNodeParams.type) != GraphNodeType.GRAPH) {
            return add(slot(s, 0), slot(s, 1), slot(s, 2), slot(s, 4), 1);
        }
        MemorySegment body = node.asSlice(CUgraphNodeParams.graph);
        long child = body.get(ValueLayout.JAVA_LONG_UNALIGNED, CUDA_CHILD_GRAPH_NODE_PARAMS.graph);
        int result = add(slot(s, 0), slot(s, 1), slot(s, 2), slot(s, 4), 1 + size(child));
        if (result == 0 && body.get(ValueLayout.JAVA_INT, CUDA_CHILD_GRAPH_NODE_PARAMS.ownership) == ChildGraphOwnership.MOVE) {
            movedTo.computeIfAbsent(slot(s, 1), _ -> new ArrayList<>()).add(child);
        }
        return result;
    }

    private void connect(long graph, long from, long to) {
        if (from != 0) {
            edges.computeIfAbsent(graph, _ -> new ArrayList<>()).add(new long[] {from, to});
        }
    }

    private int edges(long graph, long from, long to, long countPlace) {
        List<long[]> all = edges.getOrDefault(graph, List.of());
        for (int i = 0; from != 0 && i < all.size(); i++) {
            at(from, 8L * all.size()).setAtIndex(ValueLayout.JAVA_LONG, i, all.get(i)[0]);
            at(to, 8L * all.size()).setAtIndex(ValueLayout.JAVA_LONG, i, all.get(i)[1]);
        }
        return make(countPlace, all.size());
    }

    private int copy(long place, long graph) {
        Map<Long, Long> nodes = graphs.get(graph);
        if (nodes == null) {
            return CudaResult.INVALID_VALUE;
        }
        long copy = handles.getAsLong();
        Map<Long, Long> copied = new LinkedHashMap<>();
        nodes.forEach((_, weight) -> copied.put(handles.getAsLong(), weight));
        copied.keySet().forEach(node -> graphOfNode.put(node, copy));
        graphs.put(copy, copied);
        return make(place, copy);
    }

    private int end(long graph) {
        Map<Long, Long> nodes = graphs.remove(graph);
        if (nodes == null) {
            endedTwice++;
            return CudaResult.INVALID_VALUE;
        }
        nodes.keySet().forEach(graphOfNode::remove);
        movedTo.getOrDefault(graph, List.of()).forEach(this::end);
        return 0;
    }

    private int endNode(DriverEntry entry, long node) {
        Long graph = graphOfNode.remove(node);
        if (graph == null) {
            return CudaResult.INVALID_VALUE;
        }
        worked(entry, graphs.get(graph).remove(node));
        return 0;
    }

    private int nodes(long graph, long place, long countPlace) {
        Map<Long, Long> nodes = graphs.get(graph);
        MemorySegment count = at(countPlace, Long.BYTES);
        if (nodes == null) {
            return CudaResult.INVALID_VALUE;
        }
        if (place != 0) {
            LongStream.Builder clientHandle = LongStream.builder();
            nodes.keySet().forEach(clientHandle::add);
            long[] all = clientHandle.build().limit(count.get(ValueLayout.JAVA_LONG, 0)).toArray();
            MemorySegment.copy(all, 0, at(place, 8L * all.length), ValueLayout.JAVA_LONG, 0, all.length);
            count.set(ValueLayout.JAVA_LONG, 0, all.length);
        } else {
            count.set(ValueLayout.JAVA_LONG, 0, nodes.size());
        }
        return 0;
    }

    synchronized int answer(DriverEntry entry, MemorySegment s) {
        return switch (entry) {
            case cuGraphCreate -> {
                long graph = handles.getAsLong();
                graphs.put(graph, new LinkedHashMap<>());
                newest = graph;
                yield make(slot(s, 0), graph);
            }
            case cuGraphAddEmptyNode, cuGraphAddBatchMemOpNode -> add(slot(s, 0), slot(s, 1), slot(s, 2), slot(s, 3), 1);
            case cuGraphAddChildGraphNode -> {
                worked(entry, size(slot(s, 4)));
                yield add(slot(s, 0), slot(s, 1), slot(s, 2), slot(s, 3), 1 + size(slot(s, 4)));
            }
            case cuGraphAddNode_v2 -> addAny(s);
            case cuStreamGetCaptureInfo_v2 -> {
                at(slot(s, 1), Integer.BYTES).set(ValueLayout.JAVA_INT, 0, captureId == 0 ? StreamCaptureStatus.NONE : StreamCaptureStatus.ACTIVE);
                make(slot(s, 3), captureId == 0 ? 0 : CAPTURED);
                yield make(slot(s, 2), captureId);
            }
            case cuStreamEndCapture -> {
                if (captureFails) {
                    yield CudaResult.STREAM_CAPTURE_INVALIDATED;
                }
                graphs.put(CAPTURED, new LinkedHashMap<>());
                yield make(slot(s, 1), CAPTURED);
            }
            case cuGraphClone, cuGraphInstantiateWithFlags -> {
                worked(entry, size(slot(s, 1)));
                yield copy(slot(s, 0), slot(s, 1));
            }
            case cuGraphDestroy, cuGraphExecDestroy -> {
                worked(entry, size(slot(s, 0)));
                yield end(slot(s, 0));
            }
            case cuGraphDestroyNode -> endNode(entry, slot(s, 0));
            case cuGraphGetEdges_v2 -> edges(slot(s, 0), slot(s, 1), slot(s, 2), slot(s, 4));
            case cuGraphGetNodes -> nodes(slot(s, 0), slot(s, 1), slot(s, 2));
            default -> throw new IllegalArgumentException(entry.toString());
        };
    }
}
