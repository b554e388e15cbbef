package io.tessera.software.driver.graph;

import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.operation.Copy;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.Fill;
import io.tessera.software.driver.operation.HostFunction;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.operation.MemoryWords;
import io.tessera.software.driver.operation.StreamCallback;
import io.tessera.software.driver.work.Operation;

/** Types of nodes, with the numbers of CUgraphNodeType. */
public enum NodeType {
    /** A kernel. */
    KERNEL(GraphNodeType.KERNEL),
    /** A copy. */
    MEMCPY(GraphNodeType.MEMCPY),
    /** A fill. */
    MEMSET(GraphNodeType.MEMSET),
    /** A host function. */
    HOST(GraphNodeType.HOST),
    /** A graph. */
    GRAPH(GraphNodeType.GRAPH),
    /** An empty node. */
    EMPTY(GraphNodeType.EMPTY),
    /** Waits for an event. */
    WAIT_EVENT(GraphNodeType.WAIT_EVENT),
    /** Records an event. */
    EVENT_RECORD(GraphNodeType.EVENT_RECORD),
    /** Allocates. */
    MEM_ALLOC(GraphNodeType.MEM_ALLOC),
    /** Frees. */
    MEM_FREE(GraphNodeType.MEM_FREE),
    /** Waits for and writes words. */
    BATCH_MEM_OP(GraphNodeType.BATCH_MEM_OP);

    private final int number;

    NodeType(int number) {
        this.number = number;
    }

    /** Returns its number in the interface. */
    public int number() {
        return number;
    }

    /** Returns the type of the node that an operation makes. */
    public static NodeType of(Operation operation) {
        return switch (operation) {
            case KernelLaunch _ -> KERNEL;
            case Copy _ -> MEMCPY;
            case Fill _ -> MEMSET;
            case HostFunction _,StreamCallback _ -> HOST;
            case ChildGraph _ -> GRAPH;
            case EventWait _ -> WAIT_EVENT;
            case EventRecord _ -> EVENT_RECORD;
            case MemoryAllocate _ -> MEM_ALLOC;
            case MemoryFree _ -> MEM_FREE;
            case MemoryWords _ -> BATCH_MEM_OP;
            default -> EMPTY;
        };
    }
}
