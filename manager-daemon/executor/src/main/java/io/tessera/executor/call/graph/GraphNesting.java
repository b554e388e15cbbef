package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.ChildGraphOwnership;
import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaLayouts.CUDA_CHILD_GRAPH_NODE_PARAMS;
import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayHandle;
import java.lang.foreign.MemorySegment;

/** Tracks the nesting of a client's graphs. Handles are the client's. One owner thread. */
final class GraphNesting {
    private final ClientHandles handles;
    /** The graph that the call in progress moves into another one; {@link HandleTable#NONE} if there is none. */
    private long moving;

    GraphNesting(ClientHandles handles) {
        this.handles = handles;
    }

    /** Returns the graph that contains a graph; NONE: there is none. */
    long owner(long graph) {
        long parent = handles.table(HandleKind.GRAPH).parent(graph);
        return RelayHandle.type(parent) == HandleKind.GRAPH_NODE.number() ? handles.table(HandleKind.GRAPH_NODE).parent(parent) : parent;
    }

    /** Returns whether a graph is another one, or lies in it or in a node. */
    boolean isIn(long graph, long around) {
        boolean found = false;
        for (long each = graph; each != HandleTable.NONE && !found; each = owner(each)) {
            found = each == around || handles.table(HandleKind.GRAPH).parent(each) == around;
        }
        return found;
    }

    /** Refuses that a graph becomes part of itself: a driver would copy it recursively until its stack overflows (driver 580 on an H200). */
    void requireOutside(long child, long graph) throws RejectedException {
        for (long each = graph; each != HandleTable.NONE; each = owner(each)) {
            if (each == child) {
                throw new RejectedException(CudaResult.INVALID_VALUE, "a graph that would be part of itself");
            }
        }
    }

    /** Records whether the node that is about to be added moves a graph or copies it. Parameters: the type and the rest of {@code CUgraphNodeParams}. */
    void begins(int type, MemorySegment body) throws RejectedException {
        boolean moves = type == GraphNodeType.GRAPH && body.get(WireTypes.U32, CUDA_CHILD_GRAPH_NODE_PARAMS.ownership) == ChildGraphOwnership.MOVE;
        moving = moves ? body.get(WireTypes.U64, CUDA_CHILD_GRAPH_NODE_PARAMS.graph) : HandleTable.NONE;
        if (handles.table(HandleKind.GRAPH).hasParent(moving)) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "a graph that is part of another one cannot be moved");
        }
    }

    /** Makes a moved graph end with its node, as the driver's object does. Returns it; {@link HandleTable#NONE} if none was moved. */
    long adopted(long node) {
        if (moving == HandleTable.NONE || node == HandleTable.NONE) {
            return HandleTable.NONE;
        }
        handles.table(HandleKind.GRAPH).adopt(moving, node);
        return moving;
    }
}
